package fleet

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Status is what one look at a host found.
type Status struct {
	Host Host
	// Verdict is the state and what it rests on. Its texts that came from the
	// host's screen are not neutralised.
	detect.Verdict
	At   time.Time // of the look, by the host's clock; zero when it did not answer
	Git  *Git      // of the workdir; nil when it is no repository or was not reached
	Disk *Disk
	// Flags are warnings: "wrongdir" (the session's directory is not the
	// workdir), "nodir" (there is no workdir), "disk" (its file system is over
	// 90 % full or has under 2 GiB free), "draft" (somebody's text is in the
	// input box).
	Flags []string
	// Reason says why there is no better answer: for an unreachable host
	// what failed (config, resolve, connect, timeout, canceled, host key
	// unknown, host key changed, auth, proxy, session, protocol), for an
	// unknown one the thing in the way.
	Reason   string
	Attached int   // terminals that are attached to the session
	Err      error // of an unreachable host: an *Error
}

// NeedsPerson tells whether nothing goes on at a host until a person looks at
// it. A turn that runs, a limit that will reset and a session that waits for a
// prompt do not.
func (s Status) NeedsPerson() bool {
	switch s.State {
	case detect.Ready, detect.Busy, detect.Limited:
		return false
	}
	return true
}

// statusJSON is the form that scripts read. Fields are only ever added.
type statusJSON struct {
	Host       string         `json:"host"`
	Project    string         `json:"project"`
	Transport  string         `json:"transport"`
	Session    string         `json:"session"`
	Workdir    string         `json:"workdir"`
	State      detect.State   `json:"state"`
	Rule       string         `json:"rule"`
	Why        string         `json:"why"`
	Since      *time.Time     `json:"since"`
	Draft      string         `json:"draft"`
	Dialog     *detect.Dialog `json:"dialog"`
	ResetAt    *time.Time     `json:"reset_at"`
	AutoResume bool           `json:"auto_resume"`
	Retry      string         `json:"retry"`
	Git        *Git           `json:"git"`
	Disk       *Disk          `json:"disk"`
	Flags      []string       `json:"flags"`
	Attached   int            `json:"attached"`
	Reason     string         `json:"reason"`
	Error      string         `json:"error,omitempty"`
	Hint       string         `json:"hint,omitempty"`
}

// MarshalJSON writes the status as one object. Every key is always there but
// error and hint, which an unreachable host alone has.
func (s Status) MarshalJSON() ([]byte, error) { return json.Marshal(s.json()) }

func (s Status) json() statusJSON {
	j := statusJSON{
		Host: s.Host.Name, Project: s.Host.Project, Transport: s.Host.Transport, Session: s.Host.Session, Workdir: s.Host.Workdir,
		State: s.State, Rule: s.Rule, Why: s.Why, Since: s.Since, Draft: s.Draft, Dialog: s.Dialog,
		ResetAt: s.ResetAt, AutoResume: s.AutoResume, Retry: s.Retry,
		Git: s.Git, Disk: s.Disk, Flags: s.Flags, Attached: s.Attached, Reason: s.Reason,
	}
	if j.Flags == nil {
		j.Flags = []string{}
	}
	if s.Err != nil {
		j.Error, j.Hint = s.Err.Error(), HintOf(s.Err)
	}
	return j
}

// Status looks at the hosts, all of them when none is given, and yields each
// answer as it comes; hosts on one machine share one look. A screen that no rule
// knows is looked at again a moment later, twice at most: it may have been half
// drawn. Each host has its own deadline, Host.Timeout, for all of that, so that a
// dead one holds up nobody. It types nothing. A host that does not answer yields
// a Status too: unreachable.
func (f *Fleet) Status(ctx context.Context, hosts ...Host) iter.Seq[Status] {
	if len(hosts) == 0 {
		hosts = f.table.Hosts
	}
	return stream(ctx, groups(hosts), func(ctx context.Context, g group, emit func(Status)) {
		f.probe(ctx, g.glancing(), func(_ int, s seen) { emit(s.Status) })
	})
}

// neutral is text from a host, safe for one line of a terminal.
func neutral(s string) string { return transport.Neutralise(s) }
