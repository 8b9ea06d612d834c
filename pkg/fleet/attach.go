package fleet

import (
	"context"
	"fmt"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Attach connects a terminal to a host's session until the person detaches or
// the session ends. outer is the TMUX variable of the caller's own terminal;
// empty outside tmux. Raw mode is the caller's. A session that is down is
// ClassRefused.
func (f *Fleet) Attach(ctx context.Context, name string, t transport.Terminal, outer string) error {
	h, err := f.host(name)
	if err != nil {
		return err
	}
	s := f.probeOne(ctx, h)
	switch {
	case s.Err != nil:
		return s.Err
	case s.State == detect.Down || s.pane == nil && s.Rule != "several-panes":
		return &Error{Class: ClassRefused, Host: name, State: s.State, Rule: s.Rule, Msg: "there is no session to attach to: " + s.Why, Hint: sendHint(s.Status)}
	}
	if h.Transport != TransportLocal {
		outer = "" // the terminal's own tmux is another machine's
	}
	code, err := f.conn(h).Attach(ctx, transport.Script{Text: tmux.AttachScript(h.Session, outer)}, t)
	switch {
	case err != nil:
		return failed(name, "attaching", err)
	case code != 0:
		return &Error{Class: ClassFailed, Host: name, Msg: fmt.Sprintf("tmux ended the attachment with exit code %d", code)}
	}
	return nil
}
