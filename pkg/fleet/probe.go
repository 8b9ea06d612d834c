package fleet

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// seen is all that one probe saw of one host. Status is the part of it that
// callers read.
type seen struct {
	Status
	pane     *tmux.Pane          // the client pane; nil when there is none
	session  *transcript.Session // of the client that runs in it; nil when none is known
	evidence detect.Evidence
	home     string   // the workdir as the host resolved it; empty when it is missing
	jobs     []string // what else runs under the pane than shells and the client
	behind   bool     // it was launched before the token's file was written
	client   int      // the client's process; 0 when none is known to run in the pane
	around            // the client
}

// group is what one probe asks for: hosts on the same machine with the same
// deadline.
type group struct {
	endpoint transport.Endpoint
	timeout  time.Duration
	hosts    []Host
}

// groups sorts hosts by machine and deadline, in table order.
func groups(hosts []Host) []group {
	var gs []group
	at := map[string]int{}
	for _, h := range hosts {
		key := fmt.Sprintf("%#v %d", h.endpoint(), h.Timeout)
		i, ok := at[key]
		if !ok {
			i = len(gs)
			at[key] = i
			gs = append(gs, group{endpoint: h.endpoint(), timeout: h.Timeout})
		}
		gs[i].hosts = append(gs[i].hosts, h)
	}
	return gs
}

// systemFragment prints the host's clock, its time zone by name and by offset,
// the editor modes that the client's settings name, and when EnvFile was written,
// which GNU's and busybox's stat tell in one way and those of the BSDs in another.
const systemFragment = `date '+%s %z'
zone=${TZ:-$(readlink /etc/localtime 2>/dev/null)}; printf '%s\n' "${zone##*/zoneinfo/}"
for f in "$HOME/.claude.json" "$HOME/.claude/settings.json"; do [ -f "$f" ] && head -c 4194304 "$f" 2>/dev/null; done | LC_ALL=C grep -a -o '"editorMode" *: *"[a-zA-Z]*"' | tail -n 1
f=$HOME/` + EnvFile + `; [ ! -f "$f" ] || echo "login $(stat -c %Y "$f" 2>/dev/null || stat -f %m "$f" 2>/dev/null)"
:`

// look looks at every host of a group with one script.
func (f *Fleet) look(ctx context.Context, g group) []seen {
	var names []string
	for _, h := range g.hosts {
		names = append(names, h.Session)
	}
	panes, clients := tmux.NewQuery(names...), transcript.NewQuery()
	sections := transport.NewSections()
	sections.Add("tmux", panes.Fragment())
	sections.Add("processes", processFragment)
	sections.Add("clients", clients.Fragment())
	sections.Add("system", systemFragment)
	for i, h := range g.hosts {
		sections.Add(folderSection(i), folderFragment(h.Workdir))
	}
	res, err := f.conns.Conn(g.endpoint).Run(ctx, transport.Script{Text: sections.Script(), Repeatable: true})
	var parts map[string]transport.Section
	if err == nil {
		parts, err = sections.Parse(res.Stdout)
	}
	if err != nil {
		return unreachableAll(g.hosts, err)
	}

	snap, tmuxErr := tmuxAnswer(panes.Parse(parts["tmux"].Out))
	sys := parseSystem(parts["system"].Out)
	table := parseProcesses(parts["processes"])
	sessions := clients.Parse(parts["clients"].Out)
	all := make([]seen, len(g.hosts))
	for i, h := range g.hosts {
		all[i] = judge(h, sys, snap, tmuxErr, table, sessions)
		folder := parseFolder(parts[folderSection(i)].Out)
		all[i].home = folder.path
		all[i].Git, all[i].Disk = folder.git, folder.disk
		all[i].Flags = flags(all[i], folder)
	}
	return all
}

// errTmuxSilent is a look at tmux that ended before it said anything.
var errTmuxSilent = errors.New("the look at tmux there gave no answer; try again")

// tmuxAnswer tells an answer from silence. The fragment prints tmux's version
// before all else, so that without it nothing was asked: that no server runs is
// then not known, and must not read as a session that is down.
func tmuxAnswer(snap tmux.Snapshot, err error) (tmux.Snapshot, error) {
	if err == nil && snap.Version == "" {
		err = errTmuxSilent
	}
	return snap, err
}

func folderSection(i int) string { return "folder" + strconv.Itoa(i) }

func unreachableAll(hosts []Host, err error) []seen {
	all := make([]seen, len(hosts))
	for i, h := range hosts {
		all[i].Host = h
		all[i].Err = unreachable(h.Name, err)
		all[i].Verdict = detect.Verdict{State: detect.Unreachable, Rule: "no-answer", Why: err.Error()}
		all[i].Reason = "protocol"
		if k, ok := transport.KindOf(err); ok {
			all[i].Reason = k.String()
		}
	}
	return all
}

// system is what a host says of itself.
type system struct {
	now  time.Time // by the host's clock
	zone *time.Location
	vim  bool
	// login is when the file of the token was written; zero where there is none.
	login time.Time
}

func parseSystem(out []byte) system {
	lines := strings.Split(string(out), "\n")
	sys := system{now: time.Now()}
	clock, offset, _ := strings.Cut(lines[0], " ")
	if n, err := strconv.ParseInt(clock, 10, 64); err == nil {
		sys.now = time.Unix(n, 0)
	}
	if t, err := time.Parse("-0700", offset); err == nil {
		_, seconds := t.Zone()
		sys.zone = time.FixedZone("", seconds)
	}
	if len(lines) > 1 && lines[1] != "" {
		// A name that this machine does not know leaves the offset.
		if zone, err := time.LoadLocation(lines[1]); err == nil {
			sys.zone = zone
		}
	}
	if sys.zone != nil {
		sys.now = sys.now.In(sys.zone)
	}
	for _, line := range lines[min(2, len(lines)):] {
		written, ok := strings.CutPrefix(line, "login ")
		if n, err := strconv.ParseInt(written, 10, 64); ok && err == nil {
			sys.login = time.Unix(n, 0)
		}
		sys.vim = sys.vim || !ok && strings.Contains(line, `"vim"`)
	}
	return sys
}
