package rig

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"
)

func (h *Host) sshdFile(name string) string { return filepath.Join(h.dir, "sshd", name) }

// writeKey makes an ed25519 key pair: path and path.pub.
func writeKey(path string) (ssh.PublicKey, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, "rig")
	if err != nil {
		return nil, fmt.Errorf("write a key: %w", err)
	}
	public, err := ssh.NewPublicKey(private.Public())
	if err != nil {
		return nil, fmt.Errorf("write a key: %w", err)
	}
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		return nil, err
	}
	return public, os.WriteFile(path+".pub", ssh.MarshalAuthorizedKey(public), 0o644)
}

// writeLoginShell writes what stands between sshd and the shell. The account's
// own entry, which only root could change, names another home and perhaps
// another shell: this goes to the host's home first, where a real sshd would
// have begun, and then runs the shell as sshd would.
func (h *Host) writeLoginShell() error {
	const script = `#!/bin/sh
cd || exit 1
rig_command=$SSH_ORIGINAL_COMMAND
unset SSH_ORIGINAL_COMMAND OLDPWD
if [ -n "$rig_command" ]; then
	exec "$SHELL" -c "$rig_command"
fi
exec "$SHELL" -l
`
	return os.WriteFile(h.sshdFile("login-shell"), []byte(script), 0o700)
}

// sshdConfig is the host's sshd_config. The first value of a keyword wins, so
// the lines of the spec come first; and of several SetEnv lines only the first
// one counts (OpenSSH 9.2), so that the environment is one line.
func (h *Host) sshdConfig(penalties bool) (string, error) {
	_, port, err := net.SplitHostPort(h.SSHDAddr)
	if err != nil {
		return "", err
	}
	lines := append([]string(nil), h.spec.SSHDConfig...)
	lines = append(lines,
		"ListenAddress 127.0.0.1:"+port,
		"HostKey "+h.sshdFile("host_key"),
		"AuthorizedKeysFile "+h.sshdFile("authorized_keys"),
		"PidFile none",
		"UsePAM no",
		"StrictModes no",
		"UseDNS no",
		"PermitRootLogin prohibit-password",
		"PasswordAuthentication no",
		"KbdInteractiveAuthentication no",
		"PermitUserEnvironment no",
		"PrintMotd no",
		"PrintLastLog no",
		"LogLevel VERBOSE",
		"ForceCommand "+h.sshdFile("login-shell"),
	)
	if penalties {
		// From 9.8 on, sshd shuts out an address after failed logins: all hosts
		// and tests share one address.
		lines = append(lines, "PerSourcePenalties no")
	}
	if h.spec.MaxSessions > 0 {
		lines = append(lines, "MaxSessions "+strconv.Itoa(h.spec.MaxSessions))
	}
	set := "SetEnv"
	for _, e := range h.env {
		if strings.ContainsAny(e, "\"\\\n") {
			return "", fmt.Errorf("sshd_config can't hold the environment entry %q", e)
		}
		set += ` "` + e + `"`
	}
	return strings.Join(append(lines, set), "\n") + "\n", nil
}

// writeSSHDConfig writes the config without what this sshd does not know.
func (h *Host) writeSSHDConfig() error {
	for _, penalties := range []bool{true, false} {
		text, err := h.sshdConfig(penalties)
		if err != nil {
			return err
		}
		if err := os.WriteFile(h.sshdFile("config"), []byte(text), 0o600); err != nil {
			return err
		}
		out, err := exec.Command(h.rig.tools.sshd, "-t", "-f", h.sshdFile("config")).CombinedOutput()
		if err == nil {
			return nil
		}
		if !penalties {
			return fmt.Errorf("sshd refuses its config: %w: %s", err, bytes.TrimSpace(out))
		}
	}
	return nil
}
