package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// answering is one answer on its way.
type answering struct {
	f   *Fleet
	o   AnswerOptions
	c   choosing
	out Answered
}

// textKey stands for the typed text among the keys.
const textKey = "text"

func (a *answering) run(ctx context.Context) error {
	if err := a.check(); err != nil {
		return err
	}
	for {
		start, now, err := a.once(ctx)
		f, ok := faceOf(now)
		if !ok || !errors.Is(err, errOther) || len(a.c.keys) > 0 || !start.partOf(f) || ctx.Err() != nil {
			return err
		}
		// It was half drawn, and is judged anew.
	}
}

// once answers the dialog that shows now. It returns that, and the newest look.
func (a *answering) once(ctx context.Context) (face, seen, error) {
	look, start, want, err := a.judge(a.c.settle(ctx, a.f.probeOne(ctx, a.c.h), standWait))
	if err != nil && ctx.Err() == nil && look.Err == nil { // it may be the screen of a moment ago
		look, start, want, err = a.judge(a.c.settle(ctx, look, restWait/2))
	}
	if err != nil {
		return start, look, err
	}
	asked, label := start, start.Options[want]
	a.out.Option = a.out.Question.Options[want].Label
	if strings.HasPrefix(label, boxTicked) && a.o.Text == "" {
		return asked, look, a.ticked(look, "it is ticked already; nothing was pressed")
	}
	if a.o.Text != "" {
		var shown string
		if look, start, shown, err = a.typeIn(ctx, look, start, want); err != nil {
			return asked, look, a.failed(ctx, look, err)
		}
		if strings.HasPrefix(shown, boxTicked) {
			return asked, look, a.ticked(look, "it is typed and ticked") // the client ticks what is typed into
		}
	}
	box := bare(label) != label
	done := func(f face) bool { return box && strings.HasPrefix(f.Options[want], boxTicked) }
	after, r, err := a.c.choose(ctx, look, start, want, done)
	if err != nil {
		return asked, after, a.failed(ctx, after, err)
	}
	return asked, after, a.settle(ctx, after, r)
}

// judge finds the option to choose in the dialog of a look.
func (a *answering) judge(look seen) (seen, face, int, error) {
	a.out.State, a.out.Rule, a.out.Question = look.State, look.Rule, nil
	switch {
	case look.Err != nil:
		return look, face{}, 0, look.Err
	case look.Dialog == nil:
		return look, face{}, 0, noDialog(look)
	}
	q := questionOf(look)
	a.out.Question = &q
	start, _ := faceOf(look)
	want, err := a.pick(look, start, &q)
	return look, start, want, err
}

// check refuses what can't be meant, before anything is looked at.
func (a *answering) check() error {
	usage := func(msg string) error {
		return &Error{Class: ClassUsage, Host: a.c.h.Name, Msg: msg + "; nothing was pressed"}
	}
	switch text := a.o.Text; {
	case strings.TrimSpace(a.o.Label) == "" && text == "":
		return usage("no option is named (is the variable that it comes from empty?)")
	case text != "" && strings.TrimSpace(text) == "":
		return usage("the text is blank")
	case len(text) > MaxAnswer:
		return usage(fmt.Sprintf("the text has %d bytes, and %d are allowed", len(text), MaxAnswer))
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || !unicode.IsPrint(r) }):
		return usage("the text is to be one line without control or invisible characters")
	}
	return nil
}

// pick finds the option, and refuses what may not be chosen.
func (a *answering) pick(look seen, start face, q *Question) (int, error) {
	refuse := func(class Class, msg, hint string) (int, error) {
		return 0, &Error{Class: class, Host: q.Host, State: look.State, Rule: look.Rule, Msg: msg + "; nothing was pressed", Hint: hint}
	}
	attach := "answer it with: claude-fleet attach " + q.Host
	if a.o.Seen != nil && !q.Same(*a.o.Seen) {
		return refuse(ClassRefused, "another dialog waits than the one that was shown", "look at it with: claude-fleet answer "+q.Host)
	}
	if !q.Answerable {
		return refuse(ClassRefused, "this dialog can't be answered from here: "+q.Why, attach)
	}
	if why, hint := look.taken(); why != "" {
		return refuse(ClassRefused, why, hint)
	}
	found := pickLabel(start.Options, a.o.Label)
	if a.o.Label == "" {
		for i, o := range q.Options {
			if o.Free {
				found = append(found, i)
			}
		}
	}
	options := "the options are " + q.labels()
	switch {
	case len(found) == 0 && a.o.Label == "":
		return refuse(ClassUsage, "this dialog has no row to type in", options)
	case len(found) == 0:
		return refuse(ClassUsage, "this dialog has no option "+quote(neutral(a.o.Label)), options)
	case len(found) > 1:
		return refuse(ClassUsage, fmt.Sprintf("%d options begin with %s", len(found), quote(neutral(a.o.Label))), options)
	}
	o := q.Options[found[0]]
	switch {
	case a.o.Text != "" && !o.Free:
		return refuse(ClassUsage, quote(o.Label)+" takes no text", options)
	case a.o.Text == "" && o.Free:
		return refuse(ClassUsage, quote(o.Label)+" takes a typed answer", "give it with --text")
	case o.Danger != "" && !a.o.Yes:
		return refuse(ClassRefused, quote(o.Label)+" needs to be confirmed: "+o.Danger, "if that is meant, give --yes")
	}
	return found[0], nil
}

// typeIn types the text into the row that takes it, while that is selected, and
// proves that it shows there and nothing else.
func (a *answering) typeIn(ctx context.Context, look seen, start face, want int) (seen, face, string, error) {
	for {
		var now face
		var err error
		if look, now, err = a.c.move(ctx, look, start, want); err != nil {
			return look, start, "", err
		}
		typed, err := a.c.act(ctx, look, now.guarded(), textKey, func(ctx context.Context, g tmux.Guard) error {
			return tmux.TypeAlone(ctx, a.f.conn(a.c.h), g, a.o.Text)
		})
		if err != nil {
			return look, start, "", err
		}
		var r reach
		look, now, r = a.c.await(ctx, stepWait, start, want, func(f face) bool {
			return f.Selected == want && (!typed || f.holds(want, a.o.Text))
		})
		switch {
		case r == reachOther:
			return look, now, "", errOther
		case r == reachLate && a.c.lost != nil:
			return look, now, "", a.c.lost
		case r == reachLate:
			return look, now, "", errUnshown
		case typed:
			return look, now, now.Options[want], nil
		}
	}
}

var errUnshown = errors.New("the text does not show there as it was typed")

// ticked says that a box is ticked, and that its dialog waits on.
func (a *answering) ticked(look seen, msg string) error {
	q := questionOf(look)
	a.out.Result, a.out.Next, a.out.State, a.out.Rule = AnswerTicked, &q, look.State, look.Rule
	return &Error{Class: ClassNeedsPerson, Host: q.Host, State: look.State, Rule: look.Rule,
		Msg: quote(a.out.Option) + ": " + msg + ", and the dialog waits on", Hint: "tick more, or send them; the options are " + q.labels()}
}

// settle says what came of the Enter.
func (a *answering) settle(ctx context.Context, after seen, r reach) error {
	a.out.State, a.out.Rule = after.State, after.Rule
	switch {
	case r == reachDone:
		return a.ticked(after, "it is ticked")
	case r == reachLate:
		return a.failed(ctx, after, a.c.late(ctx))
	case after.Dialog == nil && after.State != detect.Gate:
		a.out.Result = AnswerGiven
		a.out.Detail = fmt.Sprintf("chose %s; the dialog is gone, and the session's state is %s", quote(a.out.Option), after.State)
		return nil
	}
	e := &Error{Class: ClassNeedsPerson, Host: a.c.h.Name, State: after.State, Rule: after.Rule,
		Msg: "chose " + quote(a.out.Option) + ", and another dialog waits, which was not answered", Hint: "see it with: claude-fleet answer " + a.c.h.Name}
	a.out.Result = AnswerFollowed
	if after.Dialog != nil {
		q := questionOf(after)
		a.out.Next = &q
		e.Msg += ": " + q.asked()
		e.Hint = "answer it with: claude-fleet answer " + a.c.h.Name + " LABEL; the options are " + q.labels()
	}
	return e
}

// failed says how far an answer came that did not get through.
func (a *answering) failed(ctx context.Context, look seen, err error) error {
	e := &Error{Host: a.c.h.Name, State: look.State, Rule: look.Rule, Hint: "look with: claude-fleet answer " + a.c.h.Name, Err: err}
	a.out.State, a.out.Rule = look.State, look.Rule
	why := transport.Neutralise(err.Error())
	if ctx.Err() != nil {
		why = "interrupted, or out of time"
	}
	if _, away := transport.KindOf(err); away && ctx.Err() == nil {
		e = unreachable(a.c.h.Name, err)
		why = e.Msg
	}
	switch {
	case a.c.entered():
		if e.Class = max(e.Class, ClassUnproven); a.c.lost == nil && ctx.Err() == nil {
			why = "the dialog still shows, or one that looks the same"
			if _, still := faceOf(look); !still {
				why = fmt.Sprintf("what shows now is not known (%s)", look.Why)
			}
		}
		e.Msg = "Enter was pressed on " + quote(a.out.Option) + ", and nothing proves what came of it: " + why
		if a.c.lost != nil {
			e.Msg = strings.Replace(e.Msg, "was pressed", "may have been pressed", 1)
		}
	case len(a.c.keys) > 0:
		e.Class = max(e.Class, ClassTyped)
		e.Msg = "nothing was chosen, though the selection may have moved: " + why
		if a.c.keys[len(a.c.keys)-1] == textKey {
			e.Msg = "the text was typed, and Enter was not pressed: " + why
		}
	default:
		e.Class = max(e.Class, ClassRefused)
		e.Msg = "nothing was pressed: " + why
	}
	return e
}
