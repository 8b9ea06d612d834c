package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// InitOptions says what Init does beside pushing the workdir.
type InitOptions struct {
	// Unit installs and enables the systemd user unit that starts the session.
	Unit bool
	// DryRun changes nothing and tells what would be changed.
	DryRun bool
}

// Change is one thing that Init does on a host.
type Change struct {
	// What it is: "write", "install" or "enable", and the thing.
	What string `json:"what"`
	// Diff is what becomes of a file, as a unified diff; neutralised, and empty for
	// what is no file.
	Diff string `json:"diff"`
}

// Did is the change in words that tell that it was made.
func (c Change) Did() string {
	verb, thing, _ := strings.Cut(c.What, " ")
	return map[string]string{"write": "wrote", "install": "installed", "enable": "enabled"}[verb] + " " + thing
}

// InitResult is how a host was prepared, or was not.
type InitResult struct {
	Host    Host
	Workdir string   // absolute, as the host resolved it; empty when there is none
	Changes []Change // that were made or, with DryRun, would be; empty when all was as it should be
	DryRun  bool
	Notes   []string // what a person should know or do there, such as that lingering is off
	// Err is an *Error, or nil. Changes that were made before it stay.
	Err error
}

// MarshalJSON writes the result as one object; error and hint are empty when
// there is none.
func (r InitResult) MarshalJSON() ([]byte, error) {
	j := struct {
		Host    string   `json:"host"`
		Workdir string   `json:"workdir"`
		DryRun  bool     `json:"dry_run"`
		Changed bool     `json:"changed"`
		Changes []Change `json:"changes"`
		Notes   []string `json:"notes"`
		Error   string   `json:"error"`
		Hint    string   `json:"hint"`
	}{Host: r.Host.Name, Workdir: r.Workdir, DryRun: r.DryRun, Changed: len(r.Changes) > 0 && !r.DryRun, Changes: r.Changes, Notes: r.Notes}
	if j.Changes == nil {
		j.Changes = []Change{}
	}
	if j.Notes == nil {
		j.Notes = []string{}
	}
	if r.Err != nil {
		j.Error, j.Hint = r.Err.Error(), HintOf(r.Err)
	}
	return json.Marshal(j)
}

// Init prepares hosts for a session that is there whenever the machine is: it
// writes each host's workdir to WorkdirFile in the home of its account there and,
// with Unit, installs the systemd user unit that starts the session in it, and
// enables it. It starts nothing. What is as it should be is left alone, so that a
// second Init changes nothing. Results are yielded as they come, one a host; for no
// host there are none.
//
// A workdir that does not exist is an error of ClassFailed. Hosts that are
// sessions on one machine share its file and unit: several of them at once, unless
// they ask for the same, are refused (ClassRefused), and one of them is told of.
// On a host without a systemd that can be asked, Unit is refused and the rest done.
func (f *Fleet) Init(ctx context.Context, opt InitOptions, hosts ...Host) iter.Seq[InitResult] {
	return stream(ctx, hosts, func(ctx context.Context, h Host, emit func(InitResult)) {
		r := InitResult{Host: h, DryRun: opt.DryRun}
		if rivals := f.rivals(h, hosts, opt); len(rivals) > 0 {
			r.Err = &Error{Class: ClassRefused, Host: h.Name,
				Msg:  "nothing was changed: it is on one machine with " + strings.Join(rivals, ", ") + ", and ~/" + WorkdirFile + " there can name the workdir of only one session",
				Hint: "name the one that the machine is to start by itself: claude-fleet init " + h.Name + ", or another"}
			emit(r)
			return
		}
		f.prepare(ctx, opt, &r)
		if r.Err == nil {
			if rivals := f.rivals(h, f.table.Hosts, opt); len(rivals) > 0 {
				r.Notes = append(r.Notes, "~/"+WorkdirFile+" is for this session alone; "+strings.Join(rivals, ", ")+" on the same machine can't have it too, and are started with: claude-fleet up")
			}
		}
		emit(r)
	})
}

// rivals are the hosts of a list that would have another text in the files of h's
// machine, as far as the table shows that it is theirs too.
func (f *Fleet) rivals(h Host, list []Host, opt InitOptions) []string {
	var names []string
	for _, o := range list {
		if o.Name == h.Name || o.endpoint() != h.endpoint() {
			continue
		}
		if o.Workdir != h.Workdir || opt.Unit && Unit(o) != Unit(h) {
			names = append(names, o.Name)
		}
	}
	return names
}

// prepare looks at a host, does what is missing, and looks again: what it then
// still finds missing did not work.
func (f *Fleet) prepare(ctx context.Context, opt InitOptions, r *InitResult) {
	ctx, cancel := f.conns.WithTimeout(ctx, r.Host.Timeout+initGrace)
	defer cancel()
	found, err := f.lookInit(ctx, r.Host)
	if err != nil {
		r.Err = failed(r.Host.Name, "looking at what is there", err)
		return
	}
	r.Workdir = found.workdir
	p := planInit(r.Host, found, opt.Unit)
	if p.err != nil {
		r.Err = p.err
		return
	}
	r.Changes, r.Notes = p.changes, p.notes
	if p.refused != nil { // the rest is done all the same
		defer func() {
			if r.Err == nil {
				r.Err = p.refused
			}
		}()
	}
	if opt.DryRun || len(p.changes) == 0 {
		return
	}
	done, err := f.applyInit(ctx, r.Host, p)
	r.Changes = r.Changes[:min(done, len(r.Changes))]
	if err != nil {
		r.Err = failed(r.Host.Name, "changing what is there", err)
		return
	}
	if found, err = f.lookInit(ctx, r.Host); err != nil {
		r.Err = failed(r.Host.Name, "looking at what was done", err)
		return
	}
	if left := planInit(r.Host, found, opt.Unit); len(left.changes) > 0 {
		r.Err = &Error{Class: ClassFailed, Host: r.Host.Name, Msg: "was changed, and is not as it was left: something else changes it there (" + left.changes[0].What + ")",
			Hint: "see what a second run would change: claude-fleet init --dry-run " + r.Host.Name}
	}
}

// applyInit runs the changes of a plan in one script and tells how many were
// made. It goes on to its end when the link breaks.
func (f *Fleet) applyInit(ctx context.Context, h Host, p initPlan) (done int, err error) {
	nonce := initNonce()
	res, err := f.conn(h).Run(ctx, transport.Script{Text: initScript(nonce, p.steps), Finish: true})
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(res.Stdout)) {
		switch strings.TrimSuffix(line, "\n") {
		case nonce + " done":
			done++
		case nonce + " end":
			return done, nil
		}
	}
	said := strings.TrimSpace(string(res.Stderr))
	if said == "" {
		said = fmt.Sprintf("exit code %d", res.ExitCode)
	}
	return done, fmt.Errorf("%s", said)
}
