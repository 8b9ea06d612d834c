package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
)

const (
	// termWait is how long a client may take to end by SIGTERM. 2.1.332 was seen to
	// take 0.3 to 0.6 s, and 2.5 s with a shell in the background on a busy machine.
	termWait = 10 * time.Second
	// killWait is how long the kernel may take to end one.
	killWait = 5 * time.Second
	// replaceLimit bounds the script that ends a client and launches the next. It runs
	// to its end whatever becomes of the caller, so that no host is left without.
	replaceLimit = 50 * time.Second
	// restartTries bounds how often a session that is another by the time it is to be
	// ended is judged anew, and steadyTries how often it has to be the same to the byte:
	// some screens never stand still.
	restartTries = 6
	steadyTries  = 3
)

// restarting is one host that is restarted.
type restarting struct {
	f *Fleet
	h Host
	o RestartOptions

	was   Was
	known tmux.Process // the client's, found before the look that judges it
	// elsewhere is a client that was not found on the pane's terminal.
	elsewhere int
	dir       string // of the conversation, where that is not the workdir
	did       []string
	notes     []string
}

// run judges the session, and ends and starts what it judged.
func (r *restarting) run(ctx context.Context) RestartResult {
	for try := 1; ; {
		look := r.f.probeOne(ctx, r.h)
		if err := r.refusal(look); err != nil {
			return r.result(look, err)
		}
		switch {
		case look.State == detect.Down:
			return r.up(ctx, climb{})
		case look.client == 0:
			return r.bare(ctx, look)
		case look.client != r.known.PID:
			if try++; try > restartTries {
				return r.result(look, r.refuse(look, "its client was replaced each time that it was looked at", "look with: claude-fleet explain "+r.h.Name))
			}
			found, ok, err := tmux.Identify(ctx, r.f.conn(r.h), look.pane.ID, look.client, r.o.Force)
			if err != nil {
				return r.result(look, failed(r.h.Name, "looking at its client; nothing was ended", err))
			}
			switch {
			case ok:
				r.known = found // what is judged next is about that process, if it is still the one
			case r.elsewhere == look.client:
				return r.bare(ctx, look)
			default:
				r.elsewhere = look.client // unless it has just ended
			}
			continue
		}
		c, err := r.replace(ctx, look, try)
		if again := errors.Is(err, tmux.ErrChanged); again && try < restartTries && wait(ctx, pause/2) {
			try++
			r.known = tmux.Process{}
			continue
		}
		if err != nil {
			return r.result(look, r.failed(ctx, look, err))
		}
		return r.up(ctx, c)
	}
}

// refusal is why a session is left alone as it was seen; nil for go on.
func (r *restarting) refusal(look seen) error {
	r.was = wasOf(look)
	name := r.h.Name
	switch {
	case look.Err != nil:
		return look.Err
	case look.State == detect.Down:
		return nil
	case look.pane == nil:
		return r.refuse(look, look.Why, "")
	case r.o.Force:
		return nil
	case look.Attached > 0:
		return r.attached(look)
	case look.Draft != "":
		return r.refuse(look, "somebody's draft is in the input box and would be lost",
			"the draft is: "+cut(neutral(look.Draft), 60)+"; send or drop it with: claude-fleet attach "+name+"; or restart it all the same with --force")
	case look.Rule == "starting":
		return r.refuse(look, look.Why, "try again in a moment, or end it all the same with --force")
	case look.client != 0 && len(look.beside) > 0:
		return r.refuse(look, "beside its client something else runs in the pane and would be ended: "+cut(neutral(strings.Join(look.beside, ", ")), 80),
			"end it there (claude-fleet attach "+name+"), or end it all with --force")
	}
	return nil
}

func (r *restarting) attached(look seen) *Error {
	who := fmt.Sprintf("somebody is attached to it (terminals: %d", look.Attached)
	if age := look.At.Sub(look.pane.Touched); !look.pane.Touched.IsZero() && age >= 0 {
		who += fmt.Sprintf(", last key %s ago", age.Round(time.Second))
	}
	return r.refuse(look, who+")", "restart it when they have left, or all the same with --force")
}

func (r *restarting) refuse(look seen, why, hint string) *Error {
	return &Error{Class: ClassRefused, Host: r.h.Name, State: look.State, Rule: look.Rule, Msg: "not restarted: " + why + "; nothing was ended", Hint: hint}
}

// bare restarts a session in whose pane no client is known to run. What runs there
// is none of ours to end, unless it is forced.
func (r *restarting) bare(ctx context.Context, look seen) RestartResult {
	if look.State == detect.Crashed && look.client == 0 && len(look.jobs) == 0 {
		return r.up(ctx, climb{none: r.o.Fresh})
	}
	if !r.o.Force {
		why, runs := "no client is known to run in its pane", look.jobs
		if look.client != 0 {
			why = "its client has another terminal than the pane"
			for _, pid := range look.holders {
				why += fmt.Sprintf(", behind process %d", pid)
			}
		} else if len(runs) > 0 {
			why += ", where this would be ended: " + cut(neutral(strings.Join(runs, ", ")), 80)
		} else {
			why += fmt.Sprintf(" (%s)", look.Why)
		}
		return r.result(look, r.refuse(look, why, "look at it with: claude-fleet attach "+r.h.Name+"; or end what runs there with: claude-fleet restart --force "+r.h.Name))
	}
	id, err := r.conversation(ctx, look)
	if err != nil {
		return r.result(look, err)
	}
	forcing, cancel := r.f.conns.WithTimeout(context.WithoutCancel(ctx), replaceLimit)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return r.result(look, r.failed(ctx, look, err))
	}
	if err := tmux.Relaunch(forcing, r.f.conn(r.h), look.pane.ID, nil, r.launch(look, id)); err != nil {
		return r.result(look, r.failed(ctx, look, err))
	}
	r.did = append(r.did, "ended what ran in the pane", launchWords("relaunched", r.h, id))
	return r.up(ctx, climb{launched: true, resumed: id != ""})
}

// up takes the host the rest of the way.
func (r *restarting) up(ctx context.Context, c climb) RestartResult {
	launched := c.launched
	res := r.f.climb(ctx, r.h, c)
	if launched && ctx.Err() != nil && res.Err != nil {
		res.Err = &Error{Class: ClassFailed, Host: r.h.Name, Msg: "its client was ended and started again; interrupted before it was seen to be up",
			Hint: "look with: claude-fleet status " + r.h.Name, Err: context.Cause(ctx)}
	}
	res.Did, res.Notes = append(r.did, res.Did...), append(r.notes, res.Notes...)
	return RestartResult{UpResult: res, Was: r.was}
}

// result is that of a host that went no further.
func (r *restarting) result(look seen, err error) RestartResult {
	return RestartResult{UpResult: UpResult{Status: look.Status, Did: r.did, Notes: r.notes, Err: err}, Was: r.was}
}
