// Command claude-fleet drives the claude session on every host of a fleet.
//
// What may live here: the commands with their flags, the text and JSON
// printers, the exit codes, and the terminal. What may not: anything that a Go
// program over pkg/fleet would need too.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(run()) }

// run is main for the tests too, which register it as a command.
func run() int {
	// The first signal lets a verb end in order; a second one kills at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}
