package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// sending is one prompt on its way to one host.
type sending struct {
	f      *Fleet
	h      Host
	o      SendOptions
	id     string
	given  bool // the caller gave the id, so that it may be known on the host
	prompt prompt
	out    Outcome

	did   map[string]bool // the steps that were taken to make way, each once
	tries int             // keys that were not pressed, since the screen had changed
}

// What a live input box looks like to the sending script where its beginning is
// scrolled out of sight, and where it shows a paste in short.
const (
	boxMore        = "─── ↑ "
	boxBelow       = "───"
	boxPlaceholder = "[Pasted text #"
)

// eraseKey takes the end of a draft out of the client's box, a row of the screen
// at a time, and does nothing in an empty box, a turn or a dialog (measured on
// 2.1.332, 2.1.217 and 2.0.76).
const eraseKey = "C-u"

// minRows is the fewest rows of a pane that takes a prompt of several lines: the
// client folds a paste away at fewer lines the smaller its terminal is. One of
// 10 rows did it to two lines, one of 20 rows to no more than a large one.
const minRows = 14

const (
	// sendTries bounds how often a screen that changed between the look and the
	// typing, or a link that broke before it, is met with a new look.
	sendTries = 6
	// calmWait is how long, at least, a screen that changes each time is met with new
	// looks: a client draws notices for some seconds behind its start.
	calmWait = 5 * time.Second
	// lockWait bounds how long another sender is waited for.
	lockWait = 20 * time.Second
	// typeWait bounds each of the two waits of the sending script.
	typeWait = 10 * time.Second
	// typeLimit bounds the sending script as a whole. It runs to its end even
	// when the caller gives up, so that no prompt is left half typed.
	typeLimit = 40 * time.Second
	// pause is the mean pause between two looks at a session that is on its way
	// from one state to another.
	pause = 300 * time.Millisecond
)

// run is Send once the prompt and its options are known to be good.
func (s *sending) run(ctx context.Context) error {
	if s.given {
		a, err := s.f.attempt(ctx, s.h, s.id)
		switch {
		case err == nil && a.last() != tmux.StageErased:
			return s.report(ctx, a)
		case err != nil && !errors.Is(err, errNoAttempt):
			return failed(s.h.Name, "asking for the outcome", err)
		}
	}
	locked, calm := time.Now().Add(lockWait), time.Now().Add(calmWait)
	for try := 1; ; try++ {
		look := s.f.probeOne(ctx, s.h)
		s.out.State, s.out.Rule = look.State, look.Rule
		if look.Err != nil {
			return s.refuse(ctx, untouched(look.Err))
		}
		if look.pane != nil && look.pane.Sender != "" && !look.Typable() && time.Now().Before(locked) && wait(ctx, pause) {
			try-- // what is on the screen is another sender's work
			continue
		}
		ready, err := s.makeWay(ctx, look)
		if err != nil {
			return s.refuse(ctx, err)
		}
		if !ready {
			try, calm = 0, time.Now().Add(calmWait) // a step was taken, each of which is taken once
			continue
		}
		how, err := s.typeIn(ctx, look)
		switch {
		case errors.Is(err, tmux.ErrClaimed), how == tmux.PastedUnknown && transport.Started(err):
			again, err := s.recover(ctx, err)
			if again && try < sendTries && wait(ctx, pause) {
				continue
			}
			if again {
				err = s.refuse(ctx, err)
			}
			return err
		case errors.Is(err, tmux.ErrLocked) && time.Now().Before(locked) && wait(ctx, pause):
			try--
			continue
		case errors.Is(err, tmux.ErrChanged) && (try < sendTries || time.Now().Before(calm)) && wait(ctx, pause/2):
			continue
		case how == tmux.PastedUnknown:
			return s.refuse(ctx, failed(s.h.Name, "sending", err))
		case how == tmux.PastedNothing:
			return s.refuse(ctx, &Error{Class: ClassRefused, Host: s.h.Name, State: look.State, Rule: look.Rule,
				Msg: "not sent: " + neutral(err.Error()), Hint: refusedHint(err), Err: err})
		}
		if how == tmux.PastedMenu {
			s.unstash(ctx)
			return s.failed(ClassTyped, "the client knows no command "+s.prompt.command+" and offered others for it, so it was not submitted; what was typed was taken out again", "give the command's whole name")
		}
		s.out.Conversation, s.out.offset = conversation(look), size(look)
		a := attempt{digest: s.out.digest, conversation: s.out.Conversation, offset: s.out.offset, queued: look.State == detect.Busy, at: look.At}
		a.stages = []tmux.Stage{stageOf[how]}
		if a.queued { // behind an equal one, perhaps: only the exact time tells them apart
			if written, err := s.f.attempt(ctx, s.h, s.id); err == nil {
				a.at = written.at
			}
		}
		return s.settle(ctx, a)
	}
}

// untouched is what a look said of a host that could not be looked at, for one
// who wanted to send.
func untouched(err error) error {
	var fe *Error
	if !errors.As(err, &fe) {
		return err
	}
	e := *fe
	e.Msg += "; nothing was typed"
	return &e
}

func refusedHint(err error) string {
	if errors.Is(err, tmux.ErrJournal) {
		return "see to " + journalRoot + " there"
	}
	return "try again in a moment"
}

// stageOf is the last line of the journal behind each end of a sending script.
var stageOf = map[tmux.Pasted]tmux.Stage{
	tmux.PastedTyped: tmux.StageTyped, tmux.PastedMenu: tmux.StageErased, tmux.PastedErased: tmux.StageErased, tmux.PastedStuck: tmux.StageStuck, tmux.PastedSubmitted: tmux.StageSubmitted,
}

// typeIn types the prompt into the session as it was seen.
func (s *sending) typeIn(ctx context.Context, look seen) (tmux.Pasted, error) {
	s.f.remember(ctx, look)
	guard := tmux.GuardOf(*look.pane)
	if look.State == detect.Busy {
		guard.From = look.Input.Row // what is above it moves all the time
	}
	a := attempt{digest: s.out.digest, conversation: conversation(look), offset: size(look), pane: look.pane.ID, queued: look.State == detect.Busy}
	typing, cancel := s.f.conns.WithTimeout(context.WithoutCancel(ctx), typeLimit)
	defer cancel()
	return tmux.PasteText(typing, s.f.conn(s.h), tmux.Paste{
		Guard: guard, Chunks: s.prompt.pieces(look), Shown: s.prompt.shown, Wait: typeWait,
		Marks: s.prompt.marks(look.Input.Mark), More: boxMore, Below: below(look.Input.Mark), Loose: s.prompt.command != "" || s.prompt.shown != "",
		Menus: s.prompt.menus(), Placeholder: boxPlaceholder, Erase: eraseKey, Once: look.Input.Stashed, Journal: journalOf(s.h, s.id, a.head(s.id)),
	})
}

// report settles an attempt that was made before: nothing is typed now.
func (s *sending) report(ctx context.Context, a attempt) error {
	s.out.Repeated = true
	return s.settle(ctx, a)
}

// refuse ends a send that typed nothing: what was put aside is put back. But what
// is in its way may come of an earlier attempt of the same id, which was on its
// way still when the host was asked for it. An attempt is written down before its
// first byte, so that now the host knows.
func (s *sending) refuse(ctx context.Context, err error) error {
	if s.given && ClassOf(err) == ClassRefused {
		if a, e := s.f.attempt(ctx, s.h, s.id); e == nil && a.last() != tmux.StageErased {
			return s.report(ctx, a)
		}
	}
	s.unstash(ctx)
	if s.out.Interrupted {
		s.warn("a turn was interrupted for the prompt")
	}
	return err
}

func (s *sending) warn(text string) { s.out.Warnings = append(s.out.Warnings, neutral(text)) }

// wait pauses for about d; false when ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(jittered(d))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func conversation(s seen) string {
	if s.session == nil {
		return ""
	}
	return s.session.ID
}

func size(s seen) int64 {
	if s.session == nil {
		return 0
	}
	return s.session.Size
}

// sendHint says what a person can do about a session that is not ready.
func sendHint(s Status) string {
	name := s.Host.Name
	switch s.State {
	case detect.Ready:
		if s.VimNormal {
			return "vim mode may be in NORMAL, where text is read as commands; press i there (claude-fleet attach " + name + ")"
		}
		return "the draft is: " + cut(neutral(s.Draft), 60) + "; finish or drop it with: claude-fleet attach " + name + "; or put it aside for the prompt with --replace-draft"
	case detect.Busy:
		return "wait with: claude-fleet wait " + name + "; or let the client queue it with --queue, or interrupt the turn with --force"
	case detect.Gate:
		if s.Dialog == nil || len(s.Dialog.Options) == 0 {
			return "answer the dialog with: claude-fleet attach " + name
		}
		return "answer the dialog with: claude-fleet answer " + name + " LABEL (it asks: " + cut(neutral(strings.Join(s.Dialog.Options, " / ")), 80) + ")"
	case detect.Limited:
		if s.ResetAt != nil {
			return "the usage limit resets at " + s.ResetAt.Local().Format("2006-01-02 15:04 MST")
		}
		return "wait for the usage limit to reset"
	case detect.Unauth:
		return "give it a token with: claude-fleet reauth " + name + "; or log in there: claude-fleet attach " + name + ", then /login"
	case detect.Down, detect.Crashed:
		return "start it with: claude-fleet up " + name
	}
	if s.Rule == "no-tmux" {
		return "see what is missing there, and how to install it, with: claude-fleet doctor " + name
	}
	return fmt.Sprintf("see what is on its screen with: claude-fleet explain %s", name)
}

// cut shortens a text for one line, by whole runes.
func cut(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}
