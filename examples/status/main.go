// Command status prints the state of every host of a fleet, as a small example
// of a Go program over pkg/fleet: load a table, look at all hosts at once, take
// the answers as they come.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "status:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	// An empty path means the usual places: $CLAUDE_FLEET_CONFIG, then the
	// user's config folder.
	f, err := fleet.Load("")
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()

	// No host holds up another: each answers, or fails, within its own deadline.
	for s := range f.Status(ctx) {
		fmt.Printf("%s is %s (rule %s)\n", s.Host.Name, s.State, s.Rule)
	}
	return ctx.Err()
}
