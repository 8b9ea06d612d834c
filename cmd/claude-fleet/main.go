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
	// The first signal lets a verb end in order, which gives the terminal back; a
	// second one kills at once. nohup's word that a hangup is no matter stands.
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	context.AfterFunc(ctx, stop)
	return execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}
