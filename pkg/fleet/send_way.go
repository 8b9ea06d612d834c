package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

const (
	// personWait is how long after a key at an attached terminal the session is
	// its person's: nothing is typed between two of their words.
	personWait = 5 * time.Second
	// stepWait bounds how long a step may take to show on the screen.
	stepWait = 15 * time.Second
	// keyTries bounds how often a key whose screen changed before it was pressed
	// is judged anew.
	keyTries = 8
)

// makeWay judges whether the prompt may be typed into the session as it was
// seen. If not, it takes the next step towards that which the options allow, and
// then ready is false and the session is to be looked at again. An error means
// that nothing is to be typed.
func (s *sending) makeWay(ctx context.Context, look seen) (ready bool, err error) {
	at := look.Status
	refuse := func(msg, hint string) (bool, error) {
		return false, &Error{Class: ClassRefused, Host: s.h.Name, State: at.State, Rule: at.Rule, Msg: "not sent: " + transport.Neutralise(msg) + "; nothing was typed", Hint: hint}
	}
	busy := at.State == detect.Busy && (s.o.Force || s.o.Queue)
	if at.State != detect.Ready && !busy || at.Input.Mark == "" {
		return false, refused(at, sendHint(at))
	}
	if age := at.At.Sub(look.pane.Touched); !look.pane.Touched.IsZero() && age >= 0 && age < personWait {
		return refuse(fmt.Sprintf("somebody is at the keyboard of that session (last key %d s ago)", int(age.Seconds())), "send it when they have finished")
	}
	if rows := look.pane.Height; rows < minRows && strings.Contains(s.prompt.text, "\n") {
		return refuse(fmt.Sprintf("the pane has %d rows, and the client folds several lines away in fewer than %d", rows, minRows),
			"make the terminal that is attached to it larger, or send one line")
	}
	if s.prompt.shown != "" && forReader(at.Input.Mark) {
		return refuse("the layout for screen readers does not show a shell command while it is typed", "use attach for it")
	}
	if at.Draft != "" {
		switch {
		case s.did["interrupt"] && at.State == detect.Ready && !s.did["clear"] && s.withdrawn(ctx, look):
			return false, s.clear(ctx, look)
		case !s.o.ReplaceDraft:
			return false, refused(at, sendHint(at))
		}
		return false, s.stash(ctx, look)
	}
	if at.State == detect.Busy {
		if !s.o.Force && (s.prompt.command != "" || s.prompt.shown != "") {
			return refuse("a command of the client is not queued", "wait with: claude-fleet wait "+s.h.Name)
		}
		if !s.o.Force {
			return true, nil
		}
		if at.Input.Queued {
			return refuse("prompts are queued there, and an interrupted turn would make way for them", "see them with: claude-fleet attach "+s.h.Name+"; or add this one with --queue")
		}
		return false, s.interrupt(ctx, look)
	}
	if at.VimNormal {
		return false, s.insert(ctx, look)
	}
	if !at.Typable() {
		return false, refused(at, sendHint(at))
	}
	if look.Attached > 0 && !s.did["attached"] {
		s.mark("attached")
		s.warn(fmt.Sprintf("attached terminals: %d; somebody may be watching", look.Attached))
	}
	return true, nil
}

// mark notes that a step was taken.
func (s *sending) mark(step string) {
	if s.did == nil {
		s.did = map[string]bool{}
	}
	s.did[step] = true
}

// step presses a key at the session as it was seen, once in a send, and looks
// until done says that it has had its effect.
func (s *sending) step(ctx context.Context, look seen, name, key string, done func(seen) bool) (seen, error) {
	guard := tmux.GuardOf(*look.pane)
	if look.State == detect.Busy {
		guard.From = look.Input.Row
	}
	if s.did[name] {
		return look, s.stepFailed(look, name)
	}
	err := tmux.PressKey(ctx, s.f.conn(s.h), guard, key)
	if errors.Is(err, tmux.ErrChanged) {
		// Judged anew by whoever called, for as long as there are tries.
		if s.tries++; s.tries > keyTries {
			return look, s.stepFailed(look, name)
		}
		wait(ctx, pause/2)
		return look, nil
	}
	s.mark(name)
	if err != nil {
		return look, failed(s.h.Name, stepNames[name], err)
	}
	ctx, cancel := s.f.conns.WithTimeout(ctx, stepWait)
	defer cancel()
	for wait(ctx, pause/2) {
		if now := s.f.probeOne(ctx, s.h); now.Err == nil {
			look = now
			if done(now) {
				return now, nil
			}
		}
	}
	if name == "interrupt" {
		return look, nil // once more
	}
	return look, s.stepFailed(look, name)
}

// stepNames says in words what each step is for.
var stepNames = map[string]string{
	"interrupt": "interrupting the turn", "interrupt again": "interrupting the turn", "stash": "putting the draft aside", "unstash": "putting the draft back",
	"insert": "leaving vim's NORMAL mode", "append": "leaving vim's NORMAL mode", "back": "taking a letter back", "clear": "taking the interrupted prompt out of the box",
}

func (s *sending) stepFailed(look seen, name string) error {
	return &Error{Class: ClassRefused, Host: s.h.Name, State: look.State, Rule: look.Rule,
		Msg: "not sent: " + stepNames[name] + " did not work; the prompt was not typed", Hint: "look with: claude-fleet explain " + s.h.Name}
}

// interruptKey ends a turn, and in vim's INSERT mode goes to NORMAL first. In an
// idle, empty box it does nothing (measured on 2.1.332 and 2.1.217).
const interruptKey = "Escape"

// interrupt ends the turn that runs. The key is pressed once more if the turn
// goes on, and that again only while the box is one that a turn has greyed.
func (s *sending) interrupt(ctx context.Context, look seen) error {
	for _, press := range []string{"interrupt", "interrupt again"} {
		if s.did[press] {
			continue
		}
		ctx, cancel := s.f.conns.WithTimeout(ctx, stepWait/3)
		_, err := s.step(ctx, look, press, interruptKey, func(now seen) bool { return now.State != detect.Busy })
		cancel()
		s.out.Interrupted = s.did["interrupt"]
		return err
	}
	return s.stepFailed(look, "interrupt")
}

// withdrawn tells whether the draft is the prompt of the turn that was
// interrupted, which the client puts back into the box when nothing had come of
// it yet. The conversation keeps its record, so that nothing is lost with it.
func (s *sending) withdrawn(ctx context.Context, look seen) bool {
	id := conversation(look)
	if id == "" {
		return false
	}
	res, err := s.f.conn(s.h).Run(ctx, transport.Script{Text: transcript.TailFragment(id, 4*MaxPrompt), Repeatable: true})
	if err != nil {
		return false
	}
	for _, r := range slices.Backward(transcript.ParseRecords(res.Stdout)) {
		if text, ok := r.Prompt(); ok {
			return restoredAs(look.Draft, text)
		}
		if r.Type == "assistant" || r.Interrupted {
			return false // something had come of it, and then nothing is put back
		}
	}
	return false
}

// restoredAs tells whether a draft is a prompt that was put back, all of it: what
// somebody has typed meanwhile may be a part of the prompt's words.
func restoredAs(draft, prompt string) bool {
	unframed := transcript.Unframed(prompt)
	if strings.HasPrefix(draft, boxPlaceholder) && strings.HasSuffix(draft, "]") {
		return unframed != prompt
	}
	return solid(draft) == solid(unframed)
}

// solid is a text without its white space, which a box wraps at.
func solid(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

func (s *sending) clear(ctx context.Context, look seen) error {
	if look.VimNormal && !s.did["append"] {
		return s.append(ctx, look)
	}
	err := tmux.ClearInput(ctx, s.f.conn(s.h), tmux.Clear{
		Guard: tmux.GuardOf(*look.pane), Marks: []string{look.Input.Mark}, More: boxMore, Erase: eraseKey, Rows: look.pane.Height + len(look.Draft)/20,
	})
	switch {
	case errors.Is(err, tmux.ErrChanged), errors.Is(err, tmux.ErrLocked):
		if s.tries++; s.tries > keyTries {
			return s.stepFailed(look, "clear")
		}
		wait(ctx, pause)
		return nil
	case err == nil, errors.Is(err, tmux.ErrLeft): // the next look tells
		s.mark("clear")
		return nil
	}
	return failed(s.h.Name, stepNames["clear"], err)
}

// insert brings the box from vim's NORMAL mode into INSERT. No version marks
// NORMAL, so that it is known by the settings and by the missing mark of INSERT;
// where that was wrong the key is a letter in the box, and is taken back.
func (s *sending) insert(ctx context.Context, look seen) error {
	const key = "i"
	now, err := s.step(ctx, look, "insert", key, func(now seen) bool { return now.State != detect.Ready || !now.VimNormal || now.Draft != "" })
	if err != nil || now.Draft != key {
		return err
	}
	if _, err := s.step(ctx, now, "back", "BSpace", func(now seen) bool { return now.Draft == "" }); err != nil {
		return err
	}
	return s.stepFailed(now, "insert")
}

// append brings a box with a draft from vim's NORMAL mode into INSERT behind the
// draft's end. In NORMAL the cursor stands on the last letter, which the erasing key
// leaves (2.1.332). Where no mode was the matter, the letter is taken back.
func (s *sending) append(ctx context.Context, look seen) error {
	const key = "A"
	now, err := s.step(ctx, look, "append", key, func(now seen) bool { return now.State != detect.Ready || !now.VimNormal || now.Draft != look.Draft })
	if err != nil || now.Draft != look.Draft+key {
		return err
	}
	_, err = s.step(ctx, now, "back", "BSpace", func(now seen) bool { return now.Draft == look.Draft })
	return err
}
