package fleet_test

import (
	"context"
	"fmt"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// An empty path means the usual places: $CLAUDE_FLEET_CONFIG, then the user's own
// fleet.conf. No connection is made before there is something to ask.
func ExampleLoad() {
	f, err := fleet.Load("")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = f.Close() }()

	for _, h := range f.Table().Hosts {
		fmt.Println(h.Name, "works on", h.Project)
	}
	// Output:
	// web works on web-app
	// db works on db-app
}

// All hosts are looked at at once, and each answer comes as soon as it is there. One
// that does not answer is a status, too.
func ExampleFleet_Status() {
	f, err := fleet.Load("")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = f.Close() }()

	for s := range f.Status(context.Background()) {
		fmt.Println(s.Host.Name, "is", s.State)
	}
	// Unordered output:
	// web is ready
	// db is down
}

// Send returns when a prompt was accepted; SendAndWait, when its turn has ended.
func ExampleFleet_SendAndWait() {
	f, err := fleet.Load("")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = f.Close() }()

	hosts, err := f.Select("web")
	if err != nil {
		fmt.Println(err)
		return
	}
	for w := range f.SendAndWait(context.Background(), "run the tests", fleet.SendOptions{}, time.Hour, hosts...) {
		if w.Err != nil {
			fmt.Println(w.Err, fleet.HintOf(w.Err))
			continue
		}
		fmt.Println(w.Host, "says", transport.NeutraliseLines(w.Turn.Text)) // a host's text may hold anything
	}
	// Output:
	// web says Done: run the tests
}

// The class of an error says how far a prompt came, and so what may be done next.
func ExampleClassOf() {
	f, err := fleet.Load("")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = f.Close() }()

	out, err := f.Send(context.Background(), "db", "run the tests", fleet.SendOptions{})
	switch fleet.ClassOf(err) {
	case 0:
		fmt.Println("accepted")
	case fleet.ClassRefused, fleet.ClassUsage:
		fmt.Println("nothing was typed:", fleet.HintOf(err))
	case fleet.ClassUnproven, fleet.ClassUnreachable:
		fmt.Println("ask what became of it, before anything else:", out.ID)
	default: // a later version may have more classes
		fmt.Println(err)
	}
	// Output:
	// nothing was typed: start it with: claude-fleet up db
}

// A Notifier is any code that is told of changes, each of them once. Here the first
// look finds a host that needs a person; the second finds nothing new.
func ExampleNotifier() {
	f, err := fleet.Load("")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = f.Close() }()

	pager := fleet.NotifierFunc(func(_ context.Context, c fleet.StatusChange) error {
		fmt.Println("page:", c.Status.Host.Name, "is", c.Status.State)
		return nil
	})
	tell := fleet.Dispatcher{Notifier: pager, Notified: fleet.Marks{}}
	for w := range f.Watch(context.Background(), fleet.WatchOptions{Interval: time.Second, Count: 2}) {
		if err := tell.Look(context.Background(), w.Status, w.SeenAt).Err; err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// page: db is down
}

// A table need not come from a file. What is left out gets the defaults of a
// fleet.conf, and what is wrong is reported in the same words.
func ExampleNewTable() {
	table, err := fleet.NewTable(
		fleet.Host{Name: "web", SSH: "deploy@web.example.com", Workdir: "~/shop", Tags: []string{"eu"}},
		fleet.Host{Name: "here", Transport: fleet.TransportLocal},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	f := fleet.New(table, fleet.WithTimeout(20*time.Second))
	defer func() { _ = f.Close() }()

	for _, h := range f.Table().Hosts {
		fmt.Println(h.Name, h.Project, h.Session, h.Timeout)
	}
	_, err = fleet.NewTable(fleet.Host{Name: "web", Workdir: "shop"})
	fmt.Println(err)
	// Output:
	// web shop claude 20s
	// here here here 20s
	// table: hosts.web.workdir: "shop" is not an absolute path (begin it with / or ~/)
}
