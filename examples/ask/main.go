// Command ask sends a prompt to hosts of a fleet and prints how each turn ended, as
// an example of a Go program that acts: it never sends twice, whatever becomes of the
// link or of itself.
//
//	ask HOST|@TAG… PROMPT
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "ask:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return errors.New("usage: ask HOST|@TAG… PROMPT")
	}
	names, prompt := args[:len(args)-1], args[len(args)-1]

	f, err := fleet.Load("")
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()

	hosts, err := f.Select(names...)
	if err != nil {
		return err
	}
	var failed error
	for w := range f.SendAndWait(ctx, prompt, fleet.SendOptions{}, time.Hour, hosts...) {
		if w.Err == nil {
			// What a session says is text from another machine: it goes to a
			// terminal only with what could steer one taken out.
			fmt.Printf("%s: %s\n", w.Host, transport.NeutraliseLines(w.Turn.Text))
			continue
		}
		failed = errors.Join(failed, w.Err)
		switch fleet.ClassOf(w.Err) {
		case fleet.ClassUnproven, fleet.ClassUnreachable:
			// It may have arrived. The id asks for what became of it, and sending it
			// again under that id types nothing that was typed before.
			fmt.Printf("%s: not known; ask with: claude-fleet outcome %s %s\n", w.Host, w.Host, w.ID)
		default:
			fmt.Printf("%s: %s; %s\n", w.Host, w.Detail, fleet.HintOf(w.Err))
		}
	}
	return failed
}
