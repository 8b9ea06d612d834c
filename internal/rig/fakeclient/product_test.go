package fakeclient_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// TestProduct has the product start a fake client over SSH and send to it, as it
// does with the real one.
func TestProduct(t *testing.T) {
	s := fakeclient.Script{}
	b := prepare(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true, Fake: &s})
	hosts, err := b.fleet.Select("alpha")
	if err != nil {
		t.Fatal(err)
	}
	for res := range b.fleet.Up(t.Context(), hosts...) {
		if res.Err != nil || res.Status.State != detect.Ready {
			t.Fatalf("up: %s, %v", res.Status.State, res.Err)
		}
	}
	prompts := []string{"hello", "two\nlines", "a\n\nb\n\nc", strings.TrimSpace(strings.Repeat("all work and no play ", 60)), lines(60)}
	for _, p := range prompts {
		b.judged(detect.Ready)
		out, err := b.fleet.Send(t.Context(), "alpha", p, fleet.SendOptions{})
		if err != nil || out.Result != fleet.Accepted || out.Record == "" {
			t.Fatalf("send %.60q: %+v, %v", p, out, err)
		}
	}
	if got := b.events(fakeclient.Submitted); !slices.Equal(got, prompts) {
		t.Errorf("submitted %q, sent %q", got, prompts)
	}
	pids, err := b.host.ClientPIDs()
	if err != nil || len(pids) != 1 {
		t.Errorf("clients %v, %v", pids, err)
	}
	b.judged(detect.Ready)
	if err := b.host.KillClient(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.judged(detect.Crashed)
}
