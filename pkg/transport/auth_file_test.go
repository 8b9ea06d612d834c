package transport

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLockedKeyFiles holds that a locked key which the library can't open is told
// of, rather than asked a passphrase for.
func TestLockedKeyFiles(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args   string
		locked bool
		says   string
	}{
		{"-t ed25519", true, ""}, // aes256-ctr
		{"-t ed25519 -Z aes256-cbc", true, ""},
		{"-t ed25519 -Z aes128-ctr", false, "encrypted by aes128-ctr"},
		{"-t ed25519 -Z aes256-gcm@openssh.com", false, "encrypted by aes256-gcm@openssh.com"},
		{"-t ed25519 -Z chacha20-poly1305@openssh.com", false, "encrypted by chacha20-poly1305@openssh.com"},
		{"-t ecdsa -m PEM", true, ""},
		{"-t ecdsa -m PKCS8", false, "PKCS#8"},
	} {
		file := filepath.Join(t.TempDir(), "id")
		args := append(strings.Fields(tc.args), "-q", "-N", "open sesame", "-f", file)
		if out, err := exec.Command("ssh-keygen", args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", tc.args, err, out)
		}
		f := readKey(file)
		if (f.locked != nil) != tc.locked || f.pub == nil || (f.why != "") == tc.locked {
			t.Errorf("%s: locked %t, public half %t, %q", tc.args, f.locked != nil, f.pub != nil, f.why)
		}
		wantText(t, f.why, tc.says)
		if !tc.locked {
			wantText(t, f.why, "ssh-add", "ssh-keygen -p")
		}
	}
}
