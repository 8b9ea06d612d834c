package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// MaxAnswer is how long a typed answer may be, in bytes: it has to show whole in
// its row of the dialog before it is given.
const MaxAnswer = 600

// answerLimit bounds one answer: up to a dozen keys, each of which waits for its
// effect.
const answerLimit = 5 * time.Minute

// Question is a dialog at which a session waits, as its screen shows it. All text
// in it is neutralised.
type Question struct {
	Host  string       `json:"host"`
	State detect.State `json:"state"` // gate, or limited for the menu of a usage limit
	Rule  string       `json:"rule"`
	Title string       `json:"title"`
	// Asks are the rows of the dialog above its options: what it is about, such as
	// the command that it asks to run.
	Asks    []string `json:"asks"`
	Options []Choice `json:"options"`
	// Answerable is whether Answer can choose an option. It can't where the dialog
	// offers keys, tabs or settings, or is cut off by a small pane; Why says so.
	Answerable bool   `json:"answerable"`
	Why        string `json:"why"`
}

// Same tells whether two looks saw one dialog: it asks and offers the same, whatever
// is selected or ticked.
func (q Question) Same(o Question) bool {
	return q.Title == o.Title && slices.Equal(q.Asks, o.Asks) &&
		slices.EqualFunc(q.Options, o.Options, func(a, b Choice) bool { return a.Label == b.Label })
}

// Choice is a row of a dialog.
type Choice struct {
	Label    string `json:"label"`
	Selected bool   `json:"selected"` // Enter would choose it now
	// Ticked is nil unless the row has a box to tick. Such rows are ticked one by
	// one, and another row (Submit, Next) sends them.
	Ticked *bool `json:"ticked"`
	// Free rows take an answer that is typed (AnswerOptions.Text).
	Free bool `json:"free"`
	// Danger says why the option needs AnswerOptions.Yes; empty when it does not.
	Danger string `json:"danger"`
}

// AnswerOptions say which option Answer chooses.
type AnswerOptions struct {
	// Label names the option: its very label, else a beginning that no other has,
	// else either without regard to case. It may be empty where Text is given and the
	// dialog has one row to type in.
	Label string
	// Text is typed into that row, one line of up to MaxAnswer bytes.
	Text string
	// Yes allows an option that may destroy something, spend money, end the client,
	// or lets the session act unasked (Choice.Danger).
	Yes bool
	// Seen is the dialog that the option was chosen of, as Fleet.Question gave it: where
	// another one waits by now, which may have an option of the same name, nothing is
	// pressed. nil: whichever waits.
	Seen *Question
}

// AnswerResult is what became of an answer.
type AnswerResult string

// The results of an answer.
const (
	AnswerGiven       AnswerResult = "answered"    // the dialog is gone
	AnswerTicked      AnswerResult = "ticked"      // the option's box is ticked, and the dialog waits on
	AnswerFollowed    AnswerResult = "followed"    // the option was chosen, and another dialog waits (Answered.Next)
	AnswerRefused     AnswerResult = "refused"     // nothing was pressed
	AnswerOpen        AnswerResult = "open"        // keys were pressed or text typed, and nothing was chosen
	AnswerUnproven    AnswerResult = "unproven"    // Enter was pressed, or may have been, and nothing proves what came of it
	AnswerUnreachable AnswerResult = "unreachable" // the machine does not answer; see Answered.Keys
)

// Answered is what became of an answer.
type Answered struct {
	Host   string       `json:"host"`
	Result AnswerResult `json:"result"`
	State  detect.State `json:"state"` // of the session, as last seen
	Rule   string       `json:"rule"`
	Detail string       `json:"detail"` // what is true now, in one line
	Hint   string       `json:"hint"`   // what to do; may be empty
	// Question is the dialog that was to be answered; nil when there was none.
	Question *Question `json:"question"`
	// Option is the label of the option that was named; empty when none was found.
	Option string `json:"option"`
	// Keys are those that were pressed, in order, by tmux's names for them; "text" is
	// that of AnswerOptions. Where the link was lost the last may not have been.
	Keys []string `json:"keys"`
	// Next is the dialog that waits now; nil when none does. It was not answered.
	Next *Question `json:"next"`
}

// Question shows the dialog at which the session of a host waits. It presses
// nothing. The errors are *Error: ClassRefused when no dialog waits there, and
// ClassUnreachable.
func (f *Fleet) Question(ctx context.Context, name string) (Question, error) {
	h, err := f.host(name)
	if err != nil {
		return Question{}, err
	}
	s := f.probeOne(ctx, h)
	if s.Err != nil {
		return Question{}, s.Err
	}
	if s.Dialog == nil {
		return Question{}, noDialog(s)
	}
	return questionOf(s), nil
}

// Answer chooses one option of the dialog at which the session of a host waits:
// it moves the selection there one key at a time, looking again behind each, and
// presses Enter once, while the screen still shows that option selected. Text is
// typed before, and only into the row that takes it. The dialog that comes next is
// told (Answered.Next) and never answered.
//
// The error is nil when the dialog is gone. Otherwise it is an *Error:
// ClassNeedsPerson when the option was taken and a dialog still waits, the next one
// or one whose boxes are being ticked; ClassUsage for an option that is not there
// or not the only one of that name; ClassRefused when nothing was pressed;
// ClassTyped when keys were pressed and nothing was chosen; ClassUnproven when Enter
// was pressed, or may have been, without proof of what came of it; and
// ClassUnreachable. An answer whose call was lost is asked for again at no risk: a
// dialog that is gone is not there to be answered, and a box that is ticked stays so.
func (f *Fleet) Answer(ctx context.Context, name string, o AnswerOptions) (Answered, error) {
	a := &answering{f: f, o: o}
	h, err := f.host(name)
	if err == nil {
		a.c = choosing{f: f, h: h}
		ctx, cancel := f.conns.WithTimeout(ctx, answerLimit)
		defer cancel()
		err = a.run(ctx)
	}
	return a.out.as(name, a.c.keys, err), err
}

// as completes what became of an answer, from the error that goes with it.
func (a Answered) as(host string, keys []string, err error) Answered {
	a.Host, a.Keys = host, keys
	if a.Keys == nil {
		a.Keys = []string{}
	}
	if err == nil {
		return a
	}
	a.Detail, a.Hint = cause(err), HintOf(err)
	if fe := (*Error)(nil); errors.As(err, &fe) {
		a.Detail = fe.Msg
	}
	switch ClassOf(err) {
	case ClassNeedsPerson:
		if a.Result == "" {
			a.Result = AnswerFollowed
		}
	case ClassTyped:
		a.Result = AnswerOpen
	case ClassUnproven:
		a.Result = AnswerUnproven
	case ClassUnreachable:
		a.Result = AnswerUnreachable
	default:
		a.Result = AnswerRefused
	}
	return a
}

// MarshalJSON writes a question with all of its keys.
func (q Question) MarshalJSON() ([]byte, error) {
	type plain Question
	if q.Asks == nil {
		q.Asks = []string{}
	}
	if q.Options == nil {
		q.Options = []Choice{}
	}
	return json.Marshal(plain(q))
}

// noDialog refuses what only a dialog takes.
func noDialog(s seen) *Error {
	e := &Error{Class: ClassRefused, Host: s.Host.Name, State: s.State, Rule: s.Rule,
		Msg: fmt.Sprintf("no dialog waits there: the session's state is %s (%s); nothing was pressed", s.State, s.Why)}
	if s.State == detect.Gate {
		e.Msg = fmt.Sprintf("what waits there has no options to choose from (%s); nothing was pressed", s.Why)
		e.Hint = "see it with: claude-fleet attach " + s.Host.Name
	}
	return e
}
