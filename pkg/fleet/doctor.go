package fleet

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Severity is how bad a finding is.
type Severity string

// The severities, from the best to the worst.
const (
	SeverityOK      Severity = "ok"
	SeverityNote    Severity = "note"    // good to know; nothing is wrong
	SeverityWarning Severity = "warning" // it works, until it does not
	SeverityFault   Severity = "fault"   // something does not work
)

var severities = []Severity{SeverityOK, SeverityNote, SeverityWarning, SeverityFault}

// Finding is what one check of Doctor came to. Its texts are safe to print: what
// came from a host is neutralised.
type Finding struct {
	ID       string   `json:"id"` // of the check; it stays the same from version to version
	Severity Severity `json:"severity"`
	What     string   `json:"what"` // what is true
	Why      string   `json:"why"`  // why that matters; empty where it is ok
	// Remedy is a command line for a shell on this machine that mends it when it
	// is run as it stands; empty where no command could, and Hint alone tells what
	// a person may do.
	Remedy string `json:"remedy"`
	Hint   string `json:"hint"`
}

// Report is all that Doctor found about one host, or about this machine.
type Report struct {
	Host     *Host // nil for this machine
	Findings []Finding
}

// Worst is the worst severity of the report's findings.
func (r Report) Worst() Severity {
	worst := 0
	for _, f := range r.Findings {
		worst = max(worst, slices.Index(severities, f.Severity))
	}
	return severities[worst]
}

// MarshalJSON writes the report as one object; "host" is null for this machine.
func (r Report) MarshalJSON() ([]byte, error) {
	j := struct {
		Host     *string   `json:"host"`
		Severity Severity  `json:"severity"`
		Findings []Finding `json:"findings"`
	}{Severity: r.Worst(), Findings: r.Findings}
	if r.Host != nil {
		j.Host = &r.Host.Name
	}
	if j.Findings == nil {
		j.Findings = []Finding{}
	}
	return json.Marshal(j)
}

// Doctor examines hosts, all of them when none is given, and yields the report on
// each as it comes. It reads only, with one script a machine. A host has its
// deadline to answer, so that a dead one holds up nobody, and is examined for 20 s
// at most then: programs that are asked there may be slow. A host that does not
// answer has one finding, "reach", which is a fault.
func (f *Fleet) Doctor(ctx context.Context, hosts ...Host) iter.Seq[Report] {
	if len(hosts) == 0 {
		hosts = f.table.Hosts
	}
	return stream(ctx, groups(hosts), func(ctx context.Context, g group, emit func(Report)) {
		f.examine(ctx, g, emit)
	})
}

// examineLimit bounds the examination of a machine that has answered. What its
// script asks is given up after 5 s each.
const examineLimit = 20 * time.Second

// answers tells whether a group's machine is reached within its deadline.
func (f *Fleet) answers(ctx context.Context, g group) error {
	ctx, cancel := f.conns.WithTimeout(ctx, g.timeout)
	defer cancel()
	_, err := f.conns.Conn(g.endpoint).Run(ctx, transport.Script{Text: ":", Repeatable: true})
	return err
}

// examined is all that the doctor's script told of one machine.
type examined struct {
	account  facts
	login    facts
	systemd  facts
	files    facts
	clients  map[string]facts // by the program's word
	folders  []facts          // by the host's place in the group
	snap     tmux.Snapshot
	tmuxErr  error
	table    processes
	sessions []transcript.Session
	skew     span
	// The claude-fleet of this table as a command, and the table's file where rows
	// can be put behind it; see selfCommand.
	self, appendable string
}

// examine runs the script on a group's machine and emits a report a host.
func (f *Fleet) examine(ctx context.Context, g group, emit func(Report)) {
	if err := f.answers(ctx, g); err != nil {
		for _, h := range g.hosts {
			emit(Report{Host: &h, Findings: []Finding{reachFault(h, err)}})
		}
		return
	}
	ctx, cancel := f.conns.WithTimeout(ctx, max(examineLimit, g.timeout))
	defer cancel()
	x, err := f.runDoctor(ctx, g)
	var unknown []string
	if err == nil {
		unknown = f.unknownSessions(ctx, g.endpoint, clientSessions(x.snap, x.table, x.sessions))
	}
	for i, h := range g.hosts {
		reached := good("reach", reachWords(h))
		if err != nil {
			emit(Report{Host: &h, Findings: []Finding{reached, scriptFault(h, err)}})
			continue
		}
		emit(Report{Host: &h, Findings: slices.Concat(
			[]Finding{reached}, x.aboutAccount(h), x.aboutTmux(h), x.aboutClient(h), x.aboutSystemd(h),
			x.aboutFolder(h, x.folders[i]), x.aboutFiles(h, x.folders[i]), []Finding{x.aboutClock(h), x.aboutStrangers(h, unknown)},
		)})
	}
}

// runDoctor runs the script and reads what it printed.
func (f *Fleet) runDoctor(ctx context.Context, g group) (examined, error) {
	s := newDoctorScript(g)
	began := time.Now()
	res, err := f.conns.Conn(g.endpoint).Run(ctx, transport.Script{Text: s.sections.Script(), Repeatable: true, Alone: true})
	if err != nil {
		return examined{}, err
	}
	ended := time.Now()
	parts, err := s.sections.Parse(res.Stdout)
	if err != nil {
		return examined{}, err
	}
	x := s.read(parts)
	x.skew = skewOf(parts, began, ended)
	x.self, x.appendable = f.table.selfCommand()
	return x, nil
}

// good, note, warning and fault make findings.
func good(id, what string) Finding { return Finding{ID: id, Severity: SeverityOK, What: what} }

func note(id, what, why, remedy string) Finding {
	return Finding{ID: id, Severity: SeverityNote, What: what, Why: why, Remedy: remedy}
}

func warning(id, what, why, remedy string) Finding {
	return Finding{ID: id, Severity: SeverityWarning, What: what, Why: why, Remedy: remedy}
}

func faulty(id, what, why, remedy string) Finding {
	return Finding{ID: id, Severity: SeverityFault, What: what, Why: why, Remedy: remedy}
}

// hinted is a finding with words beside, or in place of, a remedy.
func (f Finding) hinted(hint string) Finding {
	f.Hint = hint
	return f
}
