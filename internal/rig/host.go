package rig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// maxSocket is the longest path of a unix socket that every system takes: 104
// bytes on macOS, 108 on Linux, the closing NUL included.
const maxSocket = 103

// Host is one host of a rig. Its methods may be called at once from several
// goroutines, but for the pairs Stop/StartSSHD and Freeze/ThawSSHD.
type Host struct {
	Name       string
	Local      bool
	Home       string
	Workdir    string // a git repository below Home, with one commit and an upstream
	Project    string
	TmuxTmpdir string // TMUX_TMPDIR
	// Addr is what the operator dials, host:port: the proxy where there is one,
	// else the sshd. Empty for a local host.
	Addr string
	// SSHDAddr is the sshd itself.
	SSHDAddr string
	// Proxy is nil unless HostSpec.Proxy asked for one.
	Proxy *Proxy

	rig     *Rig
	spec    HostSpec
	dir     string
	env     []string
	hostKey ssh.PublicKey
	sshd    *sshd
}

func (r *Rig) newHost(spec HostSpec) *Host {
	dir := filepath.Join(r.dir, spec.Name)
	h := &Host{
		Name:       spec.Name,
		Local:      spec.Local,
		Home:       filepath.Join(dir, "home"),
		Workdir:    filepath.Join(dir, "home", spec.Name+"-app"),
		Project:    spec.Name + "-app",
		TmuxTmpdir: filepath.Join(dir, "t"),
		rig:        r,
		spec:       spec,
		dir:        dir,
	}
	h.env = h.makeEnv()
	return h
}

// makeEnv is the environment that the facts about the client ask for, with a
// made-up token.
func (h *Host) makeEnv() []string {
	shell := h.spec.LoginShell
	for _, s := range []string{"/bin/bash", "/bin/sh"} {
		if shell == "" && isExecutable(s) {
			shell = s
		}
	}
	name := userName()
	env := []string{
		"HOME=" + h.Home,
		"TMUX_TMPDIR=" + h.TmuxTmpdir,
		"PATH=" + h.path(),
		"SHELL=" + shell,
		"USER=" + name,
		"LOGNAME=" + name,
		"LANG=C.UTF-8",
		"ANTHROPIC_BASE_URL=" + h.rig.api.URL(),
		"CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-made-up-for-" + h.Name,
		"IS_SANDBOX=1",
		"DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		// Without this, 2.1.332 clones a repository from the outside at its first
		// start, whatever the line above says.
		"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1",
		// Whoever runs the rig may have a systemd, which is none of the hosts'.
		"XDG_RUNTIME_DIR=" + h.tmp(),
		// The client keeps sockets and scratch files in these.
		"TMPDIR=" + h.tmp(),
		"CLAUDE_CODE_TMPDIR=" + h.tmp(),
	}
	for _, entry := range h.spec.Env {
		env = setEnv(env, entry)
	}
	return env
}

// tmp is the host's own folder for temporary files.
func (h *Host) tmp() string { return filepath.Join(h.dir, "tmp") }

// setEnv adds NAME=VALUE, replacing what was there; a NAME alone removes it.
func setEnv(env []string, entry string) []string {
	name, _, isSet := strings.Cut(entry, "=")
	env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
	if isSet {
		env = append(env, entry)
	}
	return env
}

// path puts the host's own bin first. A claude that the machine has must not
// stand in for one that the spec left out.
func (h *Host) path() string {
	dirs := []string{filepath.Join(h.dir, "bin")}
	t := h.rig.tools
	for _, dir := range []string{filepath.Dir(t.tmux), filepath.Dir(t.git), filepath.Dir(t.ssh), "/usr/local/bin", "/usr/bin", "/bin"} {
		if slices.Contains(dirs, dir) || (h.spec.NoClient && isExecutable(filepath.Join(dir, "claude"))) {
			continue
		}
		dirs = append(dirs, dir)
	}
	return strings.Join(dirs, ":")
}

// userName is the account that runs the rig: the hosts' sshds can log in no other.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}

// make puts the host on disk and starts its sshd.
func (h *Host) make(ctx context.Context) error {
	socket := filepath.Join(h.TmuxTmpdir, fmt.Sprintf("tmux-%d", os.Getuid()), "default")
	if len(socket) > maxSocket {
		return fmt.Errorf("host %s: socket %s is %d bytes long, over %d: choose a shorter Options.Dir",
			h.Name, socket, len(socket), maxSocket)
	}
	for _, dir := range []string{h.Home, h.TmuxTmpdir, h.tmp(), filepath.Join(h.dir, "bin")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("host %s: %w", h.Name, err)
		}
	}
	if h.Name == operatorName {
		return nil
	}
	steps := []func(context.Context) error{h.writeHome, h.makeRepository}
	if !h.Local {
		steps = append(steps, h.makeSSHD)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return fmt.Errorf("host %s: %w", h.Name, err)
		}
	}
	return nil
}

// writeHome writes the files that the client reads before its first screen, and
// a profile that mends PATH, which the system's own profile resets for login
// shells.
func (h *Host) writeHome(context.Context) error {
	state := map[string]any{"hasCompletedOnboarding": true, "theme": "dark"}
	if h.spec.Trusted {
		state["projects"] = map[string]any{h.Workdir: map[string]any{
			"hasTrustDialogAccepted": true,
			"allowedTools":           []string{}, // 1.0.128 can't start without
		}}
	}
	settings := map[string]any{}
	if h.spec.BypassAccepted {
		settings["skipDangerousModePermissionPrompt"] = true
		state["bypassPermissionsModeAccepted"] = true // what older versions look at
	}
	overlay(state, h.spec.State)
	overlay(settings, h.spec.Settings)
	profile := fmt.Sprintf("PATH='%s'\nexport PATH\n", h.path())
	errs := []error{
		writeJSONFile(filepath.Join(h.Home, ".claude.json"), state),
		writeJSONFile(filepath.Join(h.Home, ".claude", "settings.json"), settings),
		os.WriteFile(filepath.Join(h.Home, ".profile"), []byte(profile), 0o600),
		os.WriteFile(filepath.Join(h.Home, ".zprofile"), []byte(profile), 0o600),
	}
	switch {
	case h.spec.Fake != nil:
		errs = append(errs, h.installFake())
	case !h.spec.NoClient:
		errs = append(errs, os.Symlink(h.rig.client.Path, filepath.Join(h.dir, "bin", "claude")))
	}
	return errors.Join(errs...)
}

// overlay puts values over those of object, taking the nil ones out.
func overlay(object, values map[string]any) {
	for key, value := range values {
		if object[key] = value; value == nil {
			delete(object, key)
		}
	}
}

func writeJSONFile(path string, value any) error {
	raw, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o600)
}

// makeRepository makes the workdir: a branch main with one commit, pushed to a
// bare repository beside the home. Who commits is set there and nowhere else.
func (h *Host) makeRepository(ctx context.Context) error {
	upstream := filepath.Join(h.dir, "upstream.git")
	if err := os.MkdirAll(h.Workdir, 0o755); err != nil {
		return err
	}
	readme := "# " + h.Project + "\n\nA project for a host of the rig.\n"
	if err := os.WriteFile(filepath.Join(h.Workdir, "README.md"), []byte(readme), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q", "--bare", "-b", "main", upstream},
		{"init", "-q", "-b", "main"},
		{"config", "user.name", "Rig"},
		{"config", "user.email", "rig@example.invalid"},
		{"config", "commit.gpgsign", "false"},
		{"add", "README.md"},
		{"commit", "-q", "-m", "Begin"},
		{"remote", "add", "origin", upstream},
		{"push", "-q", "-u", "origin", "main"},
	} {
		cmd := h.Command(ctx, h.rig.tools.git, args...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}

// Env is what a process on the host has in its environment. There is no TMUX
// in it, nor anything of this process's own.
func (h *Host) Env() []string { return slices.Clone(h.env) }

// Command prepares a program to run on the host, in its workdir, past SSH and
// the product: it is for looking behind the product's back. A name with no
// slash is looked up in the host's PATH. Its processes end with ctx.
func (h *Host) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	path := name
	if !strings.Contains(name, "/") {
		for dir := range strings.SplitSeq(h.path(), ":") {
			if isExecutable(filepath.Join(dir, name)) {
				path = filepath.Join(dir, name)
				break
			}
		}
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = h.Env(), h.Workdir, 5*time.Second
	return cmd
}

// Tmux runs one tmux command on the host's default server and returns what it
// printed.
func (h *Host) Tmux(ctx context.Context, args ...string) (string, error) {
	out, err := h.Command(ctx, h.rig.tools.tmux, append([]string{"-u"}, args...)...).CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("host %s: tmux %s: %w: %s", h.Name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

// Screen is what the active pane of a session shows, with no colours.
func (h *Host) Screen(ctx context.Context, session string) (string, error) {
	return h.Tmux(ctx, "capture-pane", "-p", "-t", "="+session+":")
}

// close ends all that runs on the host.
func (h *Host) close() error {
	var errs []error
	if h.Proxy != nil {
		errs = append(errs, h.Proxy.Close())
	}
	if h.sshd != nil {
		errs = append(errs, h.StopSSHD())
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	sockets, _ := filepath.Glob(filepath.Join(h.TmuxTmpdir, "tmux-*", "*"))
	for _, socket := range sockets {
		// A server may be gone already: endAll below is what makes sure.
		_ = exec.CommandContext(ctx, h.rig.tools.tmux, "-S", socket, "kill-server").Run()
	}
	return errors.Join(append(errs, h.endAll(ctx))...)
}

// removeAll tries a few times: what was just killed may still have been writing.
func removeAll(path string) error {
	var err error
	for range 10 {
		err = os.RemoveAll(path)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}
