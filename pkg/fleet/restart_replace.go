package fleet

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// conversation is the id of the one to resume; empty for none.
func (r *restarting) conversation(ctx context.Context, look seen) (string, error) {
	switch {
	case r.o.Fresh:
		return "", nil
	case look.session == nil:
		return r.f.lastConversation(ctx, look)
	case look.session.Size == 0:
		return "", nil // nothing was said in it yet, and then it can't be resumed
	}
	return look.session.ID, nil
}

// launch is the host's launch, in the directory of the conversation, which the
// client finds it by.
func (r *restarting) launch(look seen, id string) tmux.Launch {
	l := launch(r.h, id)
	r.dir = ""
	if id == "" {
		return l
	}
	if s := look.session; s != nil && path.IsAbs(s.Dir) && s.Dir != look.home && l.Command != r.h.Command {
		l.Dir, r.dir = s.Dir, s.Dir
		r.notes = append(r.notes, "its conversation is of another directory than the workdir, and goes on there: "+neutral(s.Dir))
	}
	if l.Command == r.h.Command {
		r.notes = append(r.notes, "its command takes no conversation, so that it may have begun another; the one before is "+neutral(id)+" (/resume there)")
	}
	return l
}

// replace ends the client and launches it anew, and says how far up that is.
func (r *restarting) replace(ctx context.Context, look seen, try int) (climb, error) {
	id, err := r.conversation(ctx, look)
	if err != nil {
		return climb{}, err
	}
	notes := r.notes
	p := tmux.Replacement{
		Pane: look.pane.ID, Victim: r.known, Beneath: r.o.Force, Alone: !r.o.Force, Holders: look.holders, Force: r.o.Force,
		Term: termWait, Kill: killWait, Launch: r.launch(look, id),
	}
	if s := look.session; s != nil {
		p.Check = transcript.StillFragment(s.PID, s.ID, s.Size > 0)
	}
	if look.State == detect.Ready && !r.o.Force && try <= steadyTries {
		g := tmux.GuardOf(*look.pane)
		p.Guard = &g
	}
	if err := ctx.Err(); err != nil {
		return climb{}, err
	}
	ending, cancel := r.f.conns.WithTimeout(context.WithoutCancel(ctx), replaceLimit)
	defer cancel()
	done, err := tmux.Replace(ending, r.f.conn(r.h), p)
	if done.Ended {
		how := "ended the client"
		if done.Killed {
			how = fmt.Sprintf("killed the client, which did not end in %s", termWait)
		}
		r.did = append(r.did, how)
	} else {
		r.notes = notes
	}
	if len(done.Left) > 0 {
		r.notes = append(r.notes, "what the client had started runs on: "+cut(neutral(strings.Join(done.Left, ", ")), 80))
	}
	if errors.Is(err, tmux.ErrStays) { // it may bring the client back by itself
		return climb{conversation: id, none: id == ""}, nil
	}
	if err != nil {
		return climb{}, err
	}
	r.did = append(r.did, launchWords("relaunched", r.h, id))
	return climb{launched: true, resumed: id != ""}, nil
}

// failed says what is true where a client was not ended, or not started again.
func (r *restarting) failed(ctx context.Context, look seen, err error) error {
	again := "try again in a moment"
	var fe *Error
	_, away := transport.KindOf(err)
	begun := away && transport.Started(err)
	switch {
	case errors.As(err, &fe):
		return err
	case errors.Is(err, tmux.ErrAttached):
		return r.refuse(look, "somebody has just attached to it", "restart it when they have left, or all the same with --force")
	case errors.Is(err, tmux.ErrLocked):
		return r.refuse(look, "somebody else is sending to it or restarting it right now", again)
	case errors.Is(err, tmux.ErrChanged), errors.Is(err, tmux.ErrNoSession):
		return r.refuse(look, "it is another session than a moment ago", again)
	case errors.Is(err, tmux.ErrDenied):
		return &Error{Class: ClassFailed, Host: r.h.Name, State: look.State, Rule: look.Rule, Msg: fmt.Sprintf("not restarted: its client (process %d) runs as another user; nothing was ended", look.client),
			Hint: "end it there as that user, then run: claude-fleet up " + r.h.Name, Err: err}
	case errors.Is(err, tmux.ErrInside):
		return r.refuse(look, "this is run by the session itself, which would end it with the client", "run it from outside of that session")
	case errors.Is(err, tmux.ErrEndures):
		return &Error{Class: ClassFailed, Host: r.h.Name, State: look.State, Rule: look.Rule,
			Msg: fmt.Sprintf("its client (process %d) does not end, not even by SIGKILL; nothing was started", look.client), Hint: "look at that process there", Err: err}
	case errors.Is(err, tmux.ErrUnlaunched):
		return &Error{Class: ClassFailed, Host: r.h.Name, State: look.State, Rule: look.Rule,
			Msg: "its client was ended and not started again", Hint: "start it with: claude-fleet up " + r.h.Name, Err: err}
	case ctx.Err() != nil && !begun:
		return &Error{Class: ClassFailed, Host: r.h.Name, State: look.State, Rule: look.Rule, Msg: "interrupted; nothing was ended", Err: err}
	case begun:
		e := unreachable(r.h.Name, err)
		e.Msg += "; its client may have been ended"
		e.Hint = "look with: claude-fleet status " + r.h.Name + "; what is not up is started with: claude-fleet up " + r.h.Name
		return e
	}
	if errors.Is(err, tmux.ErrNoDirectory) && r.dir != "" {
		return &Error{Class: ClassFailed, Host: r.h.Name, State: look.State, Rule: look.Rule,
			Msg: "the directory of its conversation does not exist there: " + neutral(r.dir) + "; nothing was ended", Hint: "make it there, or start without the conversation: claude-fleet restart --fresh " + r.h.Name, Err: err}
	}
	err = launchError(r.h, "restarting", err)
	if errors.As(err, &fe) {
		fe.Msg += "; nothing was ended"
	}
	return err
}
