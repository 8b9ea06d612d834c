package fleet

import (
	"encoding/json"
	"fmt"
	"time"
)

// The transports that a host can have.
const (
	TransportSSH   = "ssh"   // another machine, reached over SSH
	TransportLocal = "local" // this machine
)

// What a host gets where neither it nor [defaults] states a value.
const (
	// DefaultWorkdir is the home folder of the account on the host.
	DefaultWorkdir = "~"
	// DefaultSession is the tmux session of a host reached over SSH. A local
	// host's session is its name instead, since all of them share one machine.
	DefaultSession = "claude"
	// DefaultCommand is what the session runs.
	DefaultCommand = "claude --dangerously-skip-permissions"
	// DefaultTimeout is how long a host may take to answer before it counts as
	// unreachable.
	DefaultTimeout = 10 * time.Second
)

// Table is the fleet that one fleet.conf describes, as resolved: every default
// is filled in. LoadTable and ParseTable make one; it is not written to after
// that, so any number of goroutines may read it.
type Table struct {
	// Path is the file that was read, as it was given. It is empty when no file
	// was found and the table is the one that is built in.
	Path string
	// Hosts are in the order of the file.
	Hosts []Host
}

// Host is one row of the table.
//
// As JSON its name is "host" and its timeout a string such as "10s". A struct
// that embeds Host takes over its MarshalJSON and so loses its other fields:
// keep it as a named field.
type Host struct {
	// Name is the label by which people and verbs call the host. It is unique
	// in its table.
	Name string
	// Project is what the host works on: free text for people.
	Project string
	// Workdir is the folder the session works in. A leading ~ is the home of
	// the account on the host and stays as it is written.
	Workdir string
	// Transport is TransportSSH or TransportLocal.
	Transport string
	// SSH is an alias of ssh_config, or [user@]host[:port]. It is empty for a
	// local host.
	SSH string
	// Session is the name of the tmux session.
	Session string
	// Command is the shell command that the session runs.
	Command string
	// Tags are the labels by which verbs call several hosts at once, in the
	// order of the file and without doubles.
	Tags []string
	// Timeout is how long the host may take to answer. It is above zero.
	Timeout time.Duration
	// SSHConfig is the absolute path, on this machine, of the ssh_config to
	// read instead of the user's and the system's. Empty means those two; it is
	// always empty for a local host.
	SSHConfig string
}

// hostJSON is how a Host looks as JSON. Every key is always there, so that a
// reader need not tell a missing key from an empty one.
type hostJSON struct {
	Name      string   `json:"host"`
	Project   string   `json:"project"`
	Workdir   string   `json:"workdir"`
	Transport string   `json:"transport"`
	SSH       string   `json:"ssh"`
	Session   string   `json:"session"`
	Command   string   `json:"command"`
	Tags      []string `json:"tags"`
	Timeout   string   `json:"timeout"`
	SSHConfig string   `json:"ssh_config"`
}

// MarshalJSON writes the host as one object.
func (h Host) MarshalJSON() ([]byte, error) { return json.Marshal(h.json()) }

func (h Host) json() hostJSON {
	tags := h.Tags
	if tags == nil {
		tags = []string{} // [] rather than null: scripts iterate over it
	}
	return hostJSON{
		h.Name, h.Project, h.Workdir, h.Transport, h.SSH,
		h.Session, h.Command, tags, h.Timeout.String(), h.SSHConfig,
	}
}

// UnmarshalJSON reads what MarshalJSON wrote. It does not validate the host as
// ParseTable does.
func (h *Host) UnmarshalJSON(data []byte) error {
	var j hostJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	var timeout time.Duration
	if j.Timeout != "" {
		var err error
		if timeout, err = time.ParseDuration(j.Timeout); err != nil {
			return fmt.Errorf("host %q: timeout: %w", j.Name, err)
		}
	}
	if len(j.Tags) == 0 {
		j.Tags = nil
	}
	*h = Host{
		j.Name, j.Project, j.Workdir, j.Transport, j.SSH,
		j.Session, j.Command, j.Tags, timeout, j.SSHConfig,
	}
	return nil
}
