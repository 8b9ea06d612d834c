package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"golang.org/x/crypto/ssh"

	"github.com/claude-fleet/claude-fleet/internal/rig/api"
	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
)

// Options says what Start makes.
type Options struct {
	// Dir is where everything is made; empty means a new folder, which Close
	// removes. Sockets live below it, so its path has to be short (see maxSocket).
	Dir string
	// Log takes what is worth telling while the rig starts; nil means nobody.
	Log   func(format string, args ...any)
	Hosts []HostSpec
	// Client is the binary that hosts run as `claude`; empty means FindClient, or
	// FindClientVersion where ClientVersion is given.
	Client        string
	ClientVersion string
}

// HostSpec describes one host.
type HostSpec struct {
	Name string
	// Local makes a host without an sshd. A rig has one at most.
	Local bool
	// Trusted accepts the trust dialog for the workdir beforehand, and
	// BypassAccepted the bypass-permissions dialog. A host with neither shows
	// both when its client starts.
	Trusted, BypassAccepted bool
	// Proxy puts a Proxy between the operator and the sshd.
	Proxy bool
	// NoClient leaves `claude` out of the host's PATH.
	NoClient bool
	// Fake makes `claude` a fake client with that script, to be seen by FakeLog.
	Fake *fakeclient.Script
	// LoginShell is the path of the shell that runs what comes over SSH; empty
	// means that of the account.
	LoginShell string
	// MaxSessions of the sshd; 0 means sshd's own default, which is 10.
	MaxSessions int
	// SSHDConfig are lines that go before the rig's own, and so win over them. A
	// SetEnv line would replace the host's whole environment.
	SSHDConfig []string
	// State and Settings go into the client's ~/.claude.json and
	// ~/.claude/settings.json, over what the rig writes there. A nil value takes
	// the key out.
	State, Settings map[string]any
	// Env are NAME=VALUE entries that are added to the host's environment, or
	// replace what is there. A NAME alone removes it.
	Env []string
}

// Rig is a set of hosts on this machine, with the API that their clients talk
// to. Its methods may be called at once from several goroutines.
type Rig struct {
	dir      string
	ownDir   bool
	log      func(string, ...any)
	tools    tools
	client   Binary
	api      *api.Server
	hosts    []*Host
	operator *Host
	reaper   *reaper

	operatorKey ssh.PublicKey

	closing  sync.Once
	closeErr error
}

// tools are the programs that the rig needs, by absolute path.
type tools struct{ sshd, ssh, tmux, git string }

// operatorName is the folder of whoever drives the fleet: its key, its
// ssh_config and fleet.conf, and a home for rigs that have no local host.
const operatorName = "operator"

var hostName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,15}$`)

// Start makes the hosts and returns when each answers. It fails, naming what to
// install, where sshd, ssh, tmux or git is missing. ctx bounds the start alone:
// what was started lives until Close, or until this process dies (see reaper).
func Start(ctx context.Context, opt Options) (*Rig, error) {
	if opt.Log == nil {
		opt.Log = func(string, ...any) {}
	}
	if err := checkSpecs(opt.Hosts); err != nil {
		return nil, err
	}
	tools, err := findTools(needsSSHD(opt.Hosts))
	if err != nil {
		return nil, err
	}
	r := &Rig{log: opt.Log, tools: tools, client: Binary{Path: opt.Client}}
	if err := r.start(ctx, opt); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *Rig) start(ctx context.Context, opt Options) error {
	var err error
	switch {
	case r.client.Path != "" || !needsClient(opt.Hosts):
	case opt.ClientVersion != "":
		r.client, err = FindClientVersion(ctx, opt.ClientVersion, r.log)
	default:
		r.client, err = FindClient(ctx, r.log)
	}
	if err != nil {
		return err
	}
	if err := r.makeDir(opt.Dir); err != nil {
		return err
	}
	if r.reaper, err = startReaper(r.dir, r.tools.tmux, r.ownDir); err != nil {
		return err
	}
	if r.api, err = api.Start(); err != nil {
		return err
	}
	for _, spec := range opt.Hosts {
		r.hosts = append(r.hosts, r.newHost(spec))
	}
	r.operator = r.newHost(HostSpec{Name: operatorName, Local: true, NoClient: true})
	if err := r.operator.make(ctx); err != nil {
		return err
	}
	if r.operatorKey, err = writeKey(filepath.Join(r.operator.dir, "id_ed25519")); err != nil {
		return err
	}
	errs := make([]error, len(r.hosts))
	var wait sync.WaitGroup
	for i, h := range r.hosts {
		wait.Go(func() { errs[i] = h.make(ctx) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return r.writeOperatorFiles()
}

// makeDir settles where the rig lives, by its real path: the client knows a
// trusted folder by that.
func (r *Rig) makeDir(dir string) error {
	r.ownDir = dir == ""
	if r.ownDir {
		// The usual folder for temporary files can be deep, as on macOS, and a
		// socket's path may not be long.
		made, err := os.MkdirTemp("/tmp", "rig-")
		if err != nil {
			return fmt.Errorf("make a folder for the rig: %w", err)
		}
		dir = made
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of the rig: %w", err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return fmt.Errorf("resolve the folder of the rig: %w", err)
	}
	r.dir, err = filepath.Abs(real)
	return err
}

func checkSpecs(specs []HostSpec) error {
	seen, local := map[string]bool{operatorName: true}, false
	for _, s := range specs {
		switch {
		case !hostName.MatchString(s.Name):
			return fmt.Errorf("host name %q: want a lower-case letter, then up to 15 letters, digits or dashes", s.Name)
		case seen[s.Name]:
			return fmt.Errorf("host name %q is taken", s.Name)
		case s.Local && local:
			return fmt.Errorf("host %q: a rig has one local host at most", s.Name)
		case s.Local && (s.Proxy || s.LoginShell != "" || s.MaxSessions != 0 || s.SSHDConfig != nil):
			return fmt.Errorf("host %q is local and has no sshd to set up", s.Name)
		}
		seen[s.Name], local = true, local || s.Local
	}
	return nil
}

// needsSSHD tells whether any host is reached by SSH. A rig with no hosts at all
// counts as one that is: what it is for is not known yet.
func needsSSHD(specs []HostSpec) bool {
	return len(specs) == 0 || slices.ContainsFunc(specs, func(s HostSpec) bool { return !s.Local })
}

// needsClient tells whether any host runs a real client. A rig with no hosts at
// all counts as one that has some.
func needsClient(specs []HostSpec) bool {
	return len(specs) == 0 || slices.ContainsFunc(specs, func(s HostSpec) bool { return !s.NoClient && s.Fake == nil })
}

func findTools(sshd bool) (tools, error) {
	var t tools
	for _, need := range []struct {
		path *string
		name string
		pkg  string
	}{
		{&t.sshd, "sshd", "openssh-server"},
		{&t.ssh, "ssh", "openssh-client"},
		{&t.tmux, "tmux", "tmux"},
		{&t.git, "git", "git"},
	} {
		if need.path == &t.sshd && !sshd {
			continue
		}
		path, err := lookTool(need.name)
		if err != nil {
			return t, fmt.Errorf("%s is missing: install %s (apt-get install %s)", need.name, need.pkg, need.pkg)
		}
		*need.path = path
	}
	return t, nil
}

// lookTool also looks where an ordinary user's PATH does not: sshd is there.
func lookTool(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return filepath.Abs(path)
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/sbin", "/opt/homebrew/sbin"} {
		if path := filepath.Join(dir, name); isExecutable(path) {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

// API is the scripted API that the clients of all hosts talk to.
func (r *Rig) API() *api.Server { return r.api }

// Dir is the folder that holds everything the rig made.
func (r *Rig) Dir() string { return r.dir }

// ClientBinary is what the hosts run as `claude`. Its version is empty where
// Options.Client named it, and all of it where no host needs a real client.
func (r *Rig) ClientBinary() Binary { return r.client }

// Host returns the host of that name. It panics on a name that was not in
// Options.Hosts: that is a slip of the pen in a test.
func (r *Rig) Host(name string) *Host {
	for _, h := range r.hosts {
		if h.Name == name {
			return h
		}
	}
	panic("rig: no host " + name)
}

// Hosts are the hosts in the order of Options.Hosts.
func (r *Rig) Hosts() []*Host { return append([]*Host(nil), r.hosts...) }

// Close ends all that the rig started, and all that was started on its hosts,
// and removes the files that it made. It returns an error that names what it
// could not end. Calling it again returns the same.
func (r *Rig) Close() error {
	r.closing.Do(func() { r.closeErr = r.close() })
	return r.closeErr
}

func (r *Rig) close() error {
	var wait sync.WaitGroup
	all := r.hosts
	if r.operator != nil {
		all = append(all[:len(all):len(all)], r.operator)
	}
	errs := make([]error, len(all))
	for i, h := range all {
		wait.Go(func() { errs[i] = h.close() })
	}
	wait.Wait()
	if r.api != nil {
		errs = append(errs, r.api.Close())
	}
	errs = append(errs, r.removeFiles())
	if r.reaper != nil {
		errs = append(errs, r.reaper.close())
	}
	return errors.Join(errs...)
}

func (r *Rig) removeFiles() error {
	if r.dir == "" {
		return nil
	}
	if r.ownDir {
		return removeAll(r.dir)
	}
	errs := []error{removeAll(filepath.Join(r.dir, operatorName))}
	for _, h := range r.hosts {
		errs = append(errs, removeAll(h.dir))
	}
	return errors.Join(errs...)
}
