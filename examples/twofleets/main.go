// Command twofleets watches several fleets in one process, as an example of a Go
// program that keeps them apart: each has its own table, ssh_config and connections,
// and may use the same names as another.
//
//	twofleets LOOKS FLEET.CONF…
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"sync"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "twofleets:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return errors.New("usage: twofleets LOOKS FLEET.CONF…")
	}
	looks, err := strconv.Atoi(args[0])
	if err != nil {
		return fmt.Errorf("how many looks: %w", err)
	}

	// All tables are read before any machine is asked: a slip in one is told at once.
	var fleets []*fleet.Fleet
	for _, path := range args[1:] {
		f, err := fleet.Load(path, fleet.WithNotices(func(n fleet.Notice) {
			if !n.Minor {
				fmt.Fprintf(os.Stderr, "%s: %s: %s\n", path, n.Machine, n.Text)
			}
		}))
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		fleets = append(fleets, f)
	}

	var all sync.WaitGroup
	for _, f := range fleets {
		all.Go(func() { watch(ctx, f, looks) })
	}
	all.Wait()
	return ctx.Err()
}

// watch prints the first state of each host, and then what changes.
func watch(ctx context.Context, f *fleet.Fleet, looks int) {
	for w := range f.Watch(ctx, fleet.WatchOptions{Count: looks}) {
		if w.Poll == 1 || w.Changed {
			fmt.Printf("%s %s is %s\n", f.Table().Path, w.Host.Name, w.State)
		}
	}
}
