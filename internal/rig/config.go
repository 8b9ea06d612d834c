package rig

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh/knownhosts"
)

func (r *Rig) fleetPath() string { return filepath.Join(r.dir, operatorName, "fleet.conf") }

// SSHConfig is the path of an ssh_config with an alias for each SSH host. It
// names every file that it uses, so that nothing of the user's own comes in.
func (r *Rig) SSHConfig() string { return filepath.Join(r.dir, operatorName, "ssh_config") }

// KnownHosts is the path of the known_hosts file that SSHConfig uses.
func (r *Rig) KnownHosts() string { return filepath.Join(r.dir, operatorName, "known_hosts") }

// IdentityFile is the path of the private key that every SSH host lets in.
func (r *Rig) IdentityFile() string { return filepath.Join(r.dir, operatorName, "id_ed25519") }

func (r *Rig) writeOperatorFiles() error {
	var config, known strings.Builder
	for _, h := range r.hosts {
		if h.Local {
			continue
		}
		address, port, err := net.SplitHostPort(h.Addr)
		if err != nil {
			return err
		}
		fmt.Fprintf(&config, `Host %s
	HostName %s
	Port %s
	User %s
	IdentityFile %s
	IdentitiesOnly yes
	IdentityAgent none
	UserKnownHostsFile %s
	GlobalKnownHostsFile none
	StrictHostKeyChecking yes

`, h.Name, address, port, userName(), r.IdentityFile(), r.KnownHosts())
		fmt.Fprintln(&known, knownhosts.Line([]string{h.Addr}, h.hostKey))
	}
	return errors.Join(
		os.WriteFile(r.SSHConfig(), []byte(config.String()), 0o600),
		os.WriteFile(r.KnownHosts(), []byte(known.String()), 0o600),
		r.WriteFleet(r.fleetPath()),
	)
}

// FleetTOML is a fleet.conf for the hosts. Sessions and commands are left to
// their defaults.
func (r *Rig) FleetTOML() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[defaults]\nssh_config = %q\n", r.SSHConfig())
	for _, h := range r.hosts {
		fmt.Fprintf(&b, "\n[hosts.%s]\nproject = %q\nworkdir = %q\n", h.Name, h.Project, "~/"+filepath.Base(h.Workdir))
		if h.Local {
			fmt.Fprintf(&b, "transport = %q\n", "local")
		}
	}
	return b.String()
}

// WriteFleet writes FleetTOML to a file.
func (r *Rig) WriteFleet(path string) error {
	return os.WriteFile(path, []byte(r.FleetTOML()), 0o600)
}

// PatientFleet writes FleetTOML to a file of the rig, with a deadline of 40 s: a
// machine at its limits may take longer to answer than a person would wait.
func (r *Rig) PatientFleet() (path string, err error) {
	path = filepath.Join(r.Dir(), "patient.conf")
	table := strings.Replace(r.FleetTOML(), "[defaults]\n", "[defaults]\ntimeout = \"40s\"\n", 1)
	return path, os.WriteFile(path, []byte(table), 0o600)
}

// LocalEnv is the environment for claude-fleet itself: that of the local host,
// or a home of its own where there is none. It has no SSH agent, and
// CLAUDE_FLEET_CONFIG names a fleet.conf for the rig's hosts.
func (r *Rig) LocalEnv() []string {
	env := r.operator.Env()
	for _, h := range r.hosts {
		if h.Local {
			env = h.Env()
		}
	}
	return append(env, "TERM=xterm-256color", "SSH_AUTH_SOCK=", "CLAUDE_FLEET_CONFIG="+r.fleetPath())
}
