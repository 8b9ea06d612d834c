package transcript

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// account is a made-up home with the client's files, on which the fragments run.
type account struct {
	t    *testing.T
	base string // the folder of the client's files
	sh   string // the program that runs them
}

// posixShells are programs that serve as /bin/sh somewhere; the first is what
// the transport runs here.
var posixShells = []string{"", "bash"}

func newAccount(t *testing.T) *account {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	return &account{t: t, base: filepath.Join(home, ".claude")}
}

func (a *account) write(name, text string) string {
	a.t.Helper()
	path := filepath.Join(a.base, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

// age makes a file so old.
func (a *account) age(path string, d time.Duration) {
	a.t.Helper()
	at := time.Now().Add(-d)
	if err := os.Chtimes(path, at, at); err != nil {
		a.t.Fatal(err)
	}
}

// run runs a fragment as a probe does: with others, in a section of its own.
func (a *account) run(fragment string) []byte {
	a.t.Helper()
	sections := transport.NewSections()
	sections.Add("it", fragment)
	ctx, cancel := context.WithTimeout(a.t.Context(), 30*time.Second)
	defer cancel()
	var out []byte
	if a.sh == "" {
		pool := transport.NewPool(transport.Options{})
		defer func() { _ = pool.Close() }()
		res, err := pool.Conn(transport.Endpoint{Local: true}).Run(ctx, transport.Script{Text: sections.Script()})
		if err != nil {
			a.t.Fatal(err)
		}
		if len(res.Stderr) > 0 {
			a.t.Errorf("it complains: %s", res.Stderr)
		}
		out = res.Stdout
	} else {
		cmd := exec.CommandContext(ctx, a.sh, "-c", sections.Script())
		cmd.Args[0] = "sh"
		var err error
		if out, err = cmd.Output(); err != nil {
			a.t.Fatal(err)
		}
	}
	parts, err := sections.Parse(out)
	if err != nil {
		a.t.Fatal(err)
	}
	if code := parts["it"].ExitCode; code != 0 {
		a.t.Errorf("exit code %d", code)
	}
	return parts["it"].Out
}

// startOf is the start time of a process as its client would note it.
func startOf(t *testing.T, pid int) string {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return fields[19]
}

// deadPID is the id of a process that has ended.
func deadPID(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// sample is a session file of client 2.1.332, with these values.
func sample(t *testing.T, pid int, id, start string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/session.json")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(`"pid":12602`, `"pid":`+strconv.Itoa(pid), `"487143"`, `"`+start+`"`, sampleID, id).Replace(string(text))
}

const sampleID = "3fd70c0a-bae9-4c47-8e9e-2c7f4542fa61"

// conversation is what client 2.1.332 wrote of: a prompt, a tool, a slash
// command, a paste shown as a placeholder, a shell command, a refusal. Records of
// the types that are passed over are cut short.
func conversation(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/conversation.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// prompt is a user record.
func prompt(id, dir, text string) string {
	return fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":%s},"uuid":%s,"cwd":%s,"sessionId":"x"}`+"\n", quoted(text), quoted(id), quoted(dir))
}

// writeProgram writes a program that can be run.
func writeProgram(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}
