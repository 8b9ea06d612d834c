package fakeclient_test

import (
	"testing"

	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// TestProduct has the product send prompts to a fake client as it sends them to
// the real one.
func TestProduct(t *testing.T) {
	b := start(t, fakeclient.Script{})
	s := b.judged(detect.Ready)
	t.Log(s.Rule, s.Why)
	for _, p := range []string{"hello there", "two\nlines", "a\n\nb\nc\nd"} {
		b.judged(detect.Ready)
		out, err := b.fleet.Send(t.Context(), "alpha", p)
		if err != nil || out.Result != fleet.Accepted {
			t.Fatalf("send %q: %+v, %v", p, out, err)
		}
	}
	t.Log(b.text())
	t.Log(b.screen())
}

// TestFaults has the product send into each fault, and holds what became of it.
func TestFaultsFirst(t *testing.T) {
	b := start(t, fakeclient.Script{DeafEnters: 1})
	b.judged(detect.Ready)
	if out, err := b.fleet.Send(t.Context(), "alpha", "hello"); err != nil || out.Result != fleet.Accepted {
		t.Errorf("an Enter that is missed: %+v, %v", out, err)
	}
	b.relaunch(fakeclient.Script{Faults: []fakeclient.Fault{{On: fakeclient.OnFile, File: "ask", Dialog: fakeclient.DialogQuestion}}})
	b.judged(detect.Ready)
	if err := b.host.BringFault(t.Context(), "ask"); err != nil {
		t.Fatal(err)
	}
	s := b.judged(detect.Gate)
	t.Logf("%+v", s.Dialog)
	b.keys("Escape")
	b.judged(detect.Ready)
	b.relaunch(fakeclient.Script{Faults: []fakeclient.Fault{{On: fakeclient.OnFile, File: "ask", Dialog: fakeclient.DialogPermission}}})
	b.judged(detect.Ready)
	if err := b.host.BringFault(t.Context(), "ask"); err != nil {
		t.Fatal(err)
	}
	s = b.judged(detect.Gate)
	t.Logf("%+v", s.Dialog)
	t.Log(b.text())
}
