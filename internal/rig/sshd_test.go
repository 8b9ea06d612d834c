package rig_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
)

// ssh runs a command with the rig's ssh_config and two seconds to connect.
func ssh(t *testing.T, r *rig.Rig, host, command string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ssh", "-F", r.SSHConfig(), "-o", "ConnectTimeout=2", host, command)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func TestSSHD(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha"}, rig.HostSpec{Name: "beta", Proxy: true})
	h := r.Host("alpha")
	answers := func(host string) {
		t.Helper()
		if out, err := ssh(t, r, host, "echo works"); err != nil || out != "works" {
			t.Errorf("%s: %q, %v", host, out, err)
		}
	}
	fails := func(host, why string) {
		t.Helper()
		if out, err := ssh(t, r, host, "echo works"); err == nil || !strings.Contains(out, why) {
			t.Errorf("%s: %q, %v; want %q", host, out, err, why)
		}
	}
	answers("alpha")
	if err := h.StartSSHD(); err == nil {
		t.Error("a second sshd started")
	}

	// A connection from before the stop breaks with it.
	ctx, cancel := context.WithTimeout(context.Background(), appears)
	defer cancel()
	held := exec.CommandContext(ctx, "ssh", "-F", r.SSHConfig(), "alpha", "echo up; sleep 1000")
	out, err := held.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	if err := h.StopSSHD(); err != nil {
		t.Fatal(err)
	}
	if err := held.Wait(); err == nil || ctx.Err() != nil {
		t.Errorf("the held connection ended with %v, %v", err, ctx.Err())
	}
	fails("alpha", "Connection refused")
	answers("beta")
	if err := h.StopSSHD(); err == nil {
		t.Error("stopped an sshd that does not run")
	}
	taken, err := net.Listen("tcp", h.SSHDAddr)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.StartSSHD(); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("on a taken port: %v", err)
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.StartSSHD(); err != nil {
		t.Fatal(err)
	}
	answers("alpha")

	if err := h.FreezeSSHD(); err != nil {
		t.Fatal(err)
	}
	fails("alpha", "Connection timed out during banner exchange")
	if err := h.ThawSSHD(); err != nil {
		t.Fatal(err)
	}
	answers("alpha")

	if err := r.Host("beta").Proxy.Refuse(true); err != nil {
		t.Fatal(err)
	}
	fails("beta", "Connection refused")
	answers("alpha")
}

func TestHostEnvironment(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t,
		rig.HostSpec{Name: "alpha", MaxSessions: 3, Env: []string{"EXTRA=a b", "LANG=C", "CLAUDE_CODE_OAUTH_TOKEN"}},
		rig.HostSpec{Name: "beta", LoginShell: "/bin/sh", NoClient: true, SSHDConfig: []string{"MaxSessions 1"}},
		rig.HostSpec{Name: "home", Local: true},
	)
	alpha, beta := r.Host("alpha"), r.Host("beta")
	for _, c := range []struct{ host, command, want string }{
		{"alpha", "pwd", alpha.Home},
		{"alpha", "echo ~", alpha.Home},
		{"alpha", "command -v claude", filepath.Join(r.Dir(), "alpha", "bin", "claude")},
		{"alpha", `echo "$EXTRA,$LANG,${CLAUDE_CODE_OAUTH_TOKEN-none},$IS_SANDBOX"`, "a b,C,none,1"},
		{"alpha", `echo "${TMUX-none} ${SSH_ORIGINAL_COMMAND-none}"`, "none none"},
		{"alpha", `"$SHELL" -lc 'command -v claude'`, filepath.Join(r.Dir(), "alpha", "bin", "claude")},
		{"alpha", "git -C alpha-app status -sb", "## main...origin/main"},
		{"alpha", "git -C alpha-app log --format=%s,%an,%ae", "Begin,Rig,rig@example.invalid"},
		{"alpha", "git config --global user.name || echo none", "none"},
		{"beta", "command -v claude || echo none", "none"},
		{"beta", "echo $0", "/bin/sh"},
		{"beta", `echo "$LANG,$CLAUDE_CODE_OAUTH_TOKEN"`, "C.UTF-8,sk-ant-oat01-made-up-for-beta"},
	} {
		if got, err := ssh(t, r, c.host, c.command); err != nil || got != c.want {
			t.Errorf("%s: %s: %q, %v; want %q", c.host, c.command, got, err, c.want)
		}
	}
	for h, want := range map[*rig.Host]string{alpha: "3", beta: "1"} {
		raw, err := os.ReadFile(filepath.Join(r.Dir(), h.Name, "sshd", "config"))
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(raw), "MaxSessions ")
		if got, _, _ := strings.Cut(after, "\n"); got != want {
			t.Errorf("%s: MaxSessions %q comes first, want %s", h.Name, got, want)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), appears)
	defer cancel()
	for _, h := range r.Hosts() {
		out, err := h.Command(ctx, "sh", "-c", "pwd; echo $HOME").CombinedOutput()
		if want := h.Workdir + "\n" + h.Home + "\n"; err != nil || string(out) != want {
			t.Errorf("%s: %q, %v; want %q", h.Name, out, err, want)
		}
	}
	if err := r.Host("home").StartSSHD(); err == nil {
		t.Error("a local host started an sshd")
	}
	if err := r.Host("home").FreezeSSHD(); err == nil {
		t.Error("a local host froze an sshd")
	}
}

func TestOperatorFiles(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha"}, rig.HostSpec{Name: "home", Local: true})
	out, err := exec.Command("ssh", "-G", "-F", r.SSHConfig(), "alpha").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	host, port, _ := strings.Cut(r.Host("alpha").Addr, ":")
	for _, want := range []string{
		"hostname " + host, "port " + port, "identitiesonly yes", "identityfile " + r.IdentityFile(),
		"userknownhostsfile " + r.KnownHosts(), "globalknownhostsfile none", "stricthostkeychecking true",
	} {
		if !strings.Contains("\n"+string(out), "\n"+want+"\n") {
			t.Errorf("ssh -G lacks %q", want)
		}
	}
	want := `[defaults]
ssh_config = "` + r.SSHConfig() + `"

[hosts.alpha]
project = "alpha-app"
workdir = "~/alpha-app"

[hosts.home]
project = "home-app"
workdir = "~/home-app"
transport = "local"
`
	if got := r.FleetTOML(); got != want {
		t.Errorf("fleet.conf:\n%s\nwant:\n%s", got, want)
	}
	env := map[string]string{}
	for _, e := range r.LocalEnv() {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	if raw, err := os.ReadFile(env["CLAUDE_FLEET_CONFIG"]); err != nil || string(raw) != want {
		t.Errorf("CLAUDE_FLEET_CONFIG: %q, %v", raw, err)
	}
	if _, set := env["SSH_AUTH_SOCK"]; !set || env["SSH_AUTH_SOCK"] != "" || env["HOME"] != r.Host("home").Home {
		t.Errorf("SSH_AUTH_SOCK %q, HOME %q", env["SSH_AUTH_SOCK"], env["HOME"])
	}
}

func TestLocalEnvWithoutLocalHost(t *testing.T) {
	t.Parallel()
	r := rigtest.Start(t)
	for _, e := range r.LocalEnv() {
		if home, ok := strings.CutPrefix(e, "HOME="); ok {
			if info, err := os.Stat(home); err != nil || !info.IsDir() || !strings.HasPrefix(home, r.Dir()) {
				t.Errorf("home %q: %v", home, err)
			}
		}
	}
}
