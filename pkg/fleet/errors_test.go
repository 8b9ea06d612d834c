package fleet

import (
	"errors"
	"fmt"
	"testing"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// TestNilError has an error of a kind that is nil say nothing of its class and what to
// do, and one that is there say both.
func TestNilError(t *testing.T) {
	t.Parallel()
	var none *Error
	var noWay *transport.Error
	some := &Error{Class: ClassRefused, Msg: "busy", Hint: "wait"}
	for _, c := range []struct {
		err   error
		class Class
		hint  string
		text  string
	}{
		{none, ClassFailed, "", "no error"},
		{fmt.Errorf("box: %w", none), ClassFailed, "", "box: no error"},
		{fmt.Errorf("box: %w", noWay), ClassFailed, "", "box: no error"},
		{some, ClassRefused, "wait", "busy"},
		{fmt.Errorf("box: %w", &transport.Error{Hint: "look", Err: errors.New("silent")}), ClassFailed, "look", "box: : kind 0: silent"},
	} {
		if got := ClassOf(c.err); got != c.class {
			t.Errorf("%q: class %v, want %v", c.text, got, c.class)
		}
		if got := HintOf(c.err); got != c.hint {
			t.Errorf("%q: hint %q, want %q", c.text, got, c.hint)
		}
		if got := c.err.Error(); got != c.text {
			t.Errorf("%q, want %q", got, c.text)
		}
		if errors.Is(c.err, transport.ErrPoolClosed) {
			t.Errorf("%q has a cause", c.text)
		}
	}
}
