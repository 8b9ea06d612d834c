package fleet

import (
	"context"
	"errors"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// InterruptResult is what became of an interruption.
type InterruptResult string

// The results of an interruption.
const (
	Interrupted          InterruptResult = "interrupted" // the turn ended as interrupted; proven
	InterruptEnded       InterruptResult = "ended"       // the turn ended by itself first
	InterruptRefused     InterruptResult = "refused"     // no turn runs, or it may not be interrupted; nothing was pressed
	InterruptUnproven    InterruptResult = "unproven"    // the key was pressed, or may have been, and nothing proves what came of it
	InterruptUnreachable InterruptResult = "unreachable" // the machine does not answer; see Interruption.Pressed
)

// Interruption is what became of an attempt to stop a turn.
type Interruption struct {
	Host   string          `json:"host"`
	Result InterruptResult `json:"result"`
	State  detect.State    `json:"state"` // of the session, as last seen
	Rule   string          `json:"rule"`
	Detail string          `json:"detail"` // what is true now, in one line
	Hint   string          `json:"hint"`   // what to do; may be empty
	// Pressed is how often Escape was pressed: once, and in vim's INSERT mode twice.
	// Where the link was lost the last may not have been.
	Pressed int `json:"pressed"`
	// Withdrawn is the prompt of a turn that had not said anything yet. The client
	// puts it back into its input box, and Interrupt takes it out of there, as Send
	// does. Its record stays in the conversation.
	Withdrawn string `json:"withdrawn"`
}

// Interrupt stops the turn that runs in the session of a host: Escape is pressed
// while the screen is still the one that showed the turn. It is pressed at nothing
// else: not at a dialog, not in an idle box, not where prompts are queued (which
// would be sent by it), and not for agents in the background. A draft that
// somebody has typed stays.
//
// The error is nil when the turn ended as interrupted, or by itself before that.
// Otherwise it is an *Error: ClassRefused when nothing was pressed,
// ClassUnproven when the key was, without proof of what came of it, and
// ClassUnreachable.
func (f *Fleet) Interrupt(ctx context.Context, name string) (Interruption, error) {
	i := &interrupting{f: f}
	h, err := f.host(name)
	if err == nil {
		i.c = choosing{f: f, h: h}
		ctx, cancel := f.conns.WithTimeout(ctx, answerLimit)
		defer cancel()
		err = i.run(ctx)
	}
	return i.out.as(name, len(i.c.keys), err), err
}

// as completes what became of an interruption, from the error that goes with it.
func (i Interruption) as(host string, pressed int, err error) Interruption {
	i.Host, i.Pressed = host, pressed
	if err == nil {
		return i
	}
	i.Detail, i.Hint = cause(err), HintOf(err)
	if fe := (*Error)(nil); errors.As(err, &fe) {
		i.Detail = fe.Msg
	}
	switch ClassOf(err) {
	case ClassUnproven:
		i.Result = InterruptUnproven
	case ClassUnreachable:
		i.Result = InterruptUnreachable
	default:
		i.Result = InterruptRefused
	}
	return i
}
