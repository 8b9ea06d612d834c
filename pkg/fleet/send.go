package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Result is what became of a prompt.
type Result string

// The results of a send, from best to worst.
const (
	Accepted    Result = "accepted"    // in the conversation, once; proven by its record
	Refused     Result = "refused"     // nothing was typed
	Typed       Result = "typed"       // in the input box, whole or in part, and not submitted
	Submitted   Result = "submitted"   // gone from the input box, with no proof of where to
	Unreachable Result = "unreachable" // the machine did not answer; nothing was typed
)

// Outcome is what became of a prompt that was sent.
type Outcome struct {
	Host   string       `json:"host"`
	Result Result       `json:"result"`
	State  detect.State `json:"state"` // when it was judged
	Rule   string       `json:"rule"`
	Detail string       `json:"detail"` // what is true now, in one line
	Hint   string       `json:"hint"`   // what to do; may be empty
	// Record and Conversation are the ids of the record that proves the prompt
	// accepted and of the conversation that it stands in.
	Record       string `json:"record"`
	Conversation string `json:"conversation"`
	// DroppedControls counts the control characters that were taken out.
	DroppedControls int `json:"dropped_controls"`
}

// What a live input box looks like to the sending script: its glyph with the
// no-break space that only the live box has, and the rule above it when its
// beginning is scrolled out of sight.
const (
	boxMark        = "❯\u00a0"
	boxMore        = "─── ↑ "
	boxPlaceholder = "[Pasted text #"
)

// minRows is the fewest rows of a pane that takes a prompt of several lines: the
// client folds a paste away at fewer lines the smaller its terminal is. One of
// 10 rows did it to two lines, one of 20 rows to no more than a large one.
const minRows = 14

const (
	// judgeTries bounds how often a screen that changed between the look and
	// the typing is looked at anew.
	judgeTries = 4
	// typeWait bounds each of the two waits of the sending script.
	typeWait = 10 * time.Second
	// typeLimit bounds the sending script as a whole. It runs to its end even
	// when the caller gives up, so that no prompt is left half typed.
	typeLimit = 40 * time.Second
	// proofWait bounds the wait for the record; the client writes it within
	// about 0.1 s of taking the prompt.
	proofWait = 15 * time.Second
	proofTick = 200 * time.Millisecond
)

// Send types a prompt into the session of one host and submits it, if and only
// if the session is proven ready and its input box empty, and proves from the
// conversation that it arrived whole and once. It returns when the prompt has
// been accepted, not when the work is done.
//
// The error is nil when the prompt was accepted, else an *Error whose class
// says how far it came: ClassUsage, ClassRefused and ClassUnreachable (nothing
// was typed), ClassTyped, ClassUnproven. The Outcome says the same in both cases.
// Once typing has begun it is finished or given up within 40 s, whatever becomes
// of ctx.
func (f *Fleet) Send(ctx context.Context, name, prompt string) (Outcome, error) {
	h, err := f.host(name)
	if err != nil {
		return Outcome{Host: name, Result: Refused, Detail: err.Error()}, err
	}
	clean, dropped, err := cleanPrompt(prompt)
	if err != nil {
		class := ClassUsage
		if errors.Is(err, errCommand) {
			class = ClassRefused
		}
		err = &Error{Class: class, Host: name, Msg: "not sent: " + err.Error() + "; nothing was typed", Err: err}
		return Outcome{Host: name, Result: Refused, Detail: err.Error()}, err
	}
	out, err := f.send(ctx, h, clean)
	out.Host, out.DroppedControls = name, dropped
	var fe *Error
	if errors.As(err, &fe) {
		out.Detail, out.Hint = fe.Msg, fe.Hint
		out.Result = resultOf(fe.Class)
	}
	return out, err
}

// resultOf is the result that goes with the class of a failed send. Every other
// class, such as that of a call that was interrupted, comes before the typing.
func resultOf(c Class) Result {
	switch c {
	case ClassTyped:
		return Typed
	case ClassUnproven:
		return Submitted
	case ClassUnreachable:
		return Unreachable
	}
	return Refused
}

func (f *Fleet) send(ctx context.Context, h Host, prompt string) (Outcome, error) {
	for try := 1; ; try++ {
		s := f.probeOne(ctx, h)
		out := Outcome{State: s.State, Rule: s.Rule}
		if s.Err != nil {
			return out, s.Err
		}
		if !s.Typable() {
			return out, refused(s.Status, sendHint(s.Status))
		}
		if rows := s.pane.Height; rows < minRows && strings.Contains(prompt, "\n") {
			return out, &Error{Class: ClassRefused, Host: h.Name, State: s.State, Rule: s.Rule,
				Msg:  fmt.Sprintf("not sent: the pane has %d rows, and the client folds several lines away in fewer than %d; nothing was typed", rows, minRows),
				Hint: "make the terminal that is attached to it larger, or send one line"}
		}
		f.remember(ctx, s)
		typing, cancel := f.conns.WithTimeout(context.WithoutCancel(ctx), typeLimit)
		how, err := tmux.PasteText(typing, f.conn(h), tmux.Paste{
			Guard: tmux.GuardOf(*s.pane), Chunks: chunks(prompt), Mark: boxMark, More: boxMore, Placeholder: boxPlaceholder, Wait: typeWait,
		})
		cancel()
		switch {
		case errors.Is(err, tmux.ErrChanged) && try < judgeTries && ctx.Err() == nil:
			continue
		case how == tmux.PastedNothing:
			return out, &Error{Class: ClassRefused, Host: h.Name, State: s.State, Rule: s.Rule, Msg: "not sent: " + neutral(err.Error()), Hint: "try again in a moment", Err: err}
		case how == tmux.PastedUnknown && !transport.Started(err):
			return out, failed(h.Name, "sending", err)
		case how == tmux.PastedUnknown:
			out.Conversation = conversation(s)
			return f.prove(ctx, h, s, prompt, out, "the link broke while the prompt was being typed: "+err.Error())
		case how == tmux.PastedTyped || how == tmux.PastedStuck:
			return out, &Error{Class: ClassTyped, Host: h.Name, State: s.State, Rule: s.Rule,
				Msg:  "the prompt was typed into the input box but not submitted; it is still there",
				Hint: "look at it with: claude-fleet attach " + h.Name + "; press Enter to submit it or Ctrl+C to drop it"}
		}
		return f.prove(ctx, h, s, prompt, out, "the prompt was submitted")
	}
}

// prove waits for the record of the prompt behind what the conversation held
// before. done is how far the prompt is known to have come.
func (f *Fleet) prove(ctx context.Context, h Host, before seen, prompt string, out Outcome, done string) (Outcome, error) {
	out.Conversation = conversation(before)
	if out.Conversation == "" {
		return out, unproven(h, before, done+", and nothing can prove that it was accepted (this client keeps no session file to tell which conversation is its own)")
	}
	interrupted := ctx.Err
	ctx, cancel := f.conns.WithTimeout(ctx, proofWait)
	defer cancel()
	tick := time.NewTicker(proofTick)
	defer tick.Stop()
	for {
		records, err := f.recordsSince(ctx, h, out.Conversation, before.session.Size)
		for _, r := range records {
			if transcript.Matches(r, prompt) {
				out.Result, out.Record = Accepted, r.ID
				out.Detail = "accepted: the conversation holds the prompt"
				return out, nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if interrupted() != nil {
				return out, unproven(h, before, done+"; interrupted before the conversation could show it")
			}
			msg := done + ", but the conversation does not show it"
			if err != nil {
				msg += "; reading it: " + err.Error()
			}
			return out, unproven(h, before, msg)
		}
	}
}

func (f *Fleet) recordsSince(ctx context.Context, h Host, id string, offset int64) ([]transcript.Record, error) {
	res, err := f.conn(h).Run(ctx, transport.Script{Text: transcript.SinceFragment(id, offset), Repeatable: true})
	if err != nil {
		return nil, err
	}
	return transcript.ParseRecords(res.Stdout), nil
}

func conversation(s seen) string {
	if s.session == nil {
		return ""
	}
	return s.session.ID
}

func unproven(h Host, s seen, msg string) *Error {
	return &Error{Class: ClassUnproven, Host: h.Name, State: s.State, Rule: s.Rule, Msg: transport.Neutralise(msg),
		Hint: "do not send it again before you have looked: claude-fleet read " + h.Name}
}

// sendHint says what a person can do about a session that is not ready.
func sendHint(s Status) string {
	name := s.Host.Name
	switch s.State {
	case detect.Ready:
		if s.VimNormal {
			return "vim mode may be in NORMAL, where text is read as commands; press i there (claude-fleet attach " + name + ")"
		}
		return "the draft is: " + cut(neutral(s.Draft), 60) + "; finish or drop it with: claude-fleet attach " + name
	case detect.Busy:
		return "wait until it is ready; see what it does with: claude-fleet read " + name
	case detect.Gate:
		hint := "answer the dialog with: claude-fleet attach " + name
		if s.Dialog != nil && len(s.Dialog.Options) > 0 {
			hint += " (it asks: " + cut(neutral(strings.Join(s.Dialog.Options, " / ")), 80) + ")"
		}
		return hint
	case detect.Limited:
		if s.ResetAt != nil {
			return "the usage limit resets at " + s.ResetAt.Local().Format("2006-01-02 15:04 MST")
		}
		return "wait for the usage limit to reset"
	case detect.Unauth:
		return "log in there: claude-fleet attach " + name + ", then /login"
	case detect.Down, detect.Crashed:
		return "start it with: claude-fleet up " + name
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
