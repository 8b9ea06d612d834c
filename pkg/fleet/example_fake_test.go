package fleet_test

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// A program says in an interface of its own what it needs of a Fleet, mostly one
// method. A *fleet.Fleet has it, and so does whatever the program's tests put there.
type looker interface {
	Status(ctx context.Context, hosts ...fleet.Host) iter.Seq[fleet.Status]
}

// waiting is the code that is to be tested: which hosts wait for a person, and why?
func waiting(ctx context.Context, f looker) (why []string) {
	for s := range f.Status(ctx) {
		switch {
		case s.State == detect.Unreachable:
			why = append(why, s.Host.Name+": "+fleet.HintOf(s.Err))
		case s.NeedsPerson() && s.Dialog != nil:
			why = append(why, s.Host.Name+": "+transport.Neutralise(s.Dialog.Title)) // a host's text may hold anything
		case s.NeedsPerson():
			why = append(why, s.Host.Name+": "+s.Why)
		}
	}
	return why
}

// fake answers without a host: everything that a Fleet gives can be written down.
type fake []fleet.Status

func (f fake) Status(context.Context, ...fleet.Host) iter.Seq[fleet.Status] {
	return slices.Values(f)
}

// The real one fits, too.
var _ looker = (*fleet.Fleet)(nil)

// How a program over pkg/fleet is tested without any host.
func Example_fake() {
	hosts := fake{
		{Host: fleet.Host{Name: "web"}, Verdict: detect.Verdict{State: detect.Ready}},
		{Host: fleet.Host{Name: "db"}, Verdict: detect.Verdict{
			State:  detect.Gate,
			Dialog: &detect.Dialog{Title: "Do you want to proceed?", Options: []string{"Yes", "No"}},
		}},
		{Host: fleet.Host{Name: "ci"}, Verdict: detect.Verdict{State: detect.Unreachable},
			Err: &fleet.Error{Class: fleet.ClassUnreachable, Host: "ci", Msg: "unreachable", Hint: "is it on?"}},
	}
	for _, line := range waiting(context.Background(), hosts) {
		fmt.Println(line)
	}
	// Output:
	// db: Do you want to proceed?
	// ci: is it on?
}
