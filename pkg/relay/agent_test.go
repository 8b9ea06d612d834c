package relay

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// TestAgentOf holds that an agent is told from another behind the same name, and that
// none at all is not taken for the folder that the server stands in.
func TestAgentOf(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "agent")
	ids := map[string]bool{}
	for _, socket := range []string{"one", "two"} {
		l, err := net.Listen("unix", filepath.Join(folder, socket))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		_ = os.Remove(name)
		if err := os.Symlink(filepath.Join(folder, socket), name); err != nil {
			t.Fatal(err)
		}
		ids[agentOf([]string{"SSH_AUTH_SOCK=" + name})] = true
	}
	if len(ids) != 2 || ids[""] {
		t.Errorf("two agents are %v", ids)
	}
	for _, none := range []string{"SSH_AUTH_SOCK=", "SSH_AUTH_SOCK=.", "SSH_AUTH_SOCK=" + filepath.Join(folder, "missing"), "OTHER=" + name} {
		if id := agentOf([]string{none}); id != "" {
			t.Errorf("%s is %q", none, id)
		}
	}
}
