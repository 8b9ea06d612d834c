package fleet

import (
	"context"
	"encoding/json"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// Explanation is a host's status with all that its state rests on.
type Explanation struct {
	Status
	Trace  detect.Trace // empty where there was no pane to look at
	Screen string       // as the pane showed it, escapes and all: not neutralised
}

// MarshalJSON writes the status's object with the trace and the screen added.
func (x Explanation) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		statusJSON
		Rows   []int        `json:"rows"` // of the screen, from 0, that the rule rests on
		Trace  detect.Trace `json:"trace"`
		Screen string       `json:"screen"`
	}{x.Status.json(), append([]int{}, x.Rows...), x.Trace, x.Screen})
}

// Explain looks at one host, by its label, and tells how its state was come to.
// The error is an *Error, of ClassUnreachable when the host did not answer.
func (f *Fleet) Explain(ctx context.Context, name string) (Explanation, error) {
	h, err := f.host(name)
	if err != nil {
		return Explanation{}, err
	}
	s := f.probeOne(ctx, h)
	if s.Err != nil {
		return Explanation{}, s.Err
	}
	x := Explanation{Status: s.Status}
	if s.pane != nil {
		x.Trace = detect.Explain(s.evidence).Trace
		x.Screen = string(s.pane.Screen)
	}
	return x, nil
}

// String is the explanation in words, for a person. What it quotes of the
// screen is not neutralised beyond its control characters.
func (x Explanation) String() string {
	return detect.Explanation{Verdict: x.Verdict, Trace: x.Trace}.Words(x.Host.Name)
}
