package fleet

import (
	"context"
	"testing"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// noted is a carrier that runs nothing and notes what it is given.
type noted struct{ scripts []transport.Script }

func (n *noted) Carry(_ context.Context, e transport.Endpoint, s transport.Script, _ *transport.Person) (transport.Result, error) {
	n.scripts = append(n.scripts, s)
	return transport.Result{}, transport.LostError(e)
}

// TestAlone has a shell of their own for scripts that start a login shell, and for those
// with a token in them: the shell that stays is not to keep either. A look needs none.
func TestAlone(t *testing.T) {
	h := Host{Name: "box", Transport: TransportSSH, SSH: "127.0.0.1:1", SSHConfig: "/dev/null", Session: "main", Command: "claude"}
	for _, o := range []struct {
		name  string
		run   func(ctx context.Context, f *Fleet) error
		alone bool
	}{
		{"doctor", func(ctx context.Context, f *Fleet) error {
			_, err := f.runDoctor(ctx, group{endpoint: h.endpoint(), hosts: []Host{h}})
			return err
		}, true},
		{"a question with the token", func(ctx context.Context, f *Fleet) error {
			_, err := (&reauthing{f: f, h: h}).ask(ctx, Token{}, "", "auth status", nil)
			return err
		}, true},
		{"whether the token may go there", func(ctx context.Context, f *Fleet) error {
			return (&reauthing{f: f, h: h}).allowed(ctx)
		}, false},
	} {
		n := &noted{}
		f := &Fleet{conns: transport.NewPool(transport.Options{Carrier: n})}
		if err := o.run(t.Context(), f); err == nil {
			t.Errorf("%s: it has worked", o.name)
		}
		_ = f.conns.Close()
		if len(n.scripts) != 1 || n.scripts[0].Alone != o.alone || !n.scripts[0].Repeatable {
			t.Errorf("%s: %d scripts, alone %t", o.name, len(n.scripts), len(n.scripts) > 0 && n.scripts[0].Alone)
		}
	}
}
