// Command bench measures claude-fleet beside OpenSSH, in one run on this machine,
// with real sshds, and prints a table of figures, ratios and limits.
//
// What may live here: the ground that is measured on, the ways that are measured,
// and the table. What may not: a limit that fails a run. A machine may be slow;
// only a wrong answer is an error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options say how much is measured.
type options struct {
	binary   string        // claude-fleet
	times    int           // samples of each way; the median counts
	hosts    int           // endpoints of the fleet
	sessions int           // on one host
	watched  int           // endpoints of the fleet that is watched
	watch    time.Duration // how long that fleet is watched; 0: until all was seen a few times
}

// benches is the table of all that is measured, in the order of the report.
var benches = []struct {
	name, about string
	run         func(context.Context, *ground, *report) error
}{
	{"start", "the program's own start", start},
	{"cold", "status of a fleet, each connection made anew", cold},
	{"others", "other parallel runners, where they are installed", others},
	{"poll", "status of a fleet again and again, connections kept", poll},
	{"far", "the same behind a network of 100 ms a round trip", far},
	{"sessions", "many sessions on one host against one", sessions},
	{"runs", "status of one host, a process for each look", runs},
	{"watch", "a large fleet watched: memory and CPU", watch},
}

func main() {
	o := options{}
	var only string
	var short bool
	var child, profile string
	flag.StringVar(&o.binary, "bin", "bin/claude-fleet", "the claude-fleet `BINARY` to measure")
	flag.StringVar(&only, "run", "", "only the benchmarks whose names match `REGEXP`")
	flag.IntVar(&o.times, "n", 5, "samples of each way")
	flag.IntVar(&o.hosts, "hosts", 30, "endpoints of the fleet")
	flag.IntVar(&o.sessions, "sessions", 34, "sessions on one host")
	flag.IntVar(&o.watched, "watched", 200, "endpoints of the fleet that is watched")
	flag.DurationVar(&o.watch, "watch", 0, "watch for so long, and tell of memory each minute")
	flag.BoolVar(&short, "short", false, "two samples of a small fleet: only that all of it works")
	flag.StringVar(&profile, "cpuprofile", "", "write a CPU profile of this process to `FILE`, which the library is measured in")
	flag.StringVar(&child, "watcher", "", "be the process that watches the fleet of `FILE` (used by the benchmark itself)")
	flag.Parse()
	if short {
		o.times, o.hosts, o.sessions, o.watched = 2, 6, 6, 12
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := func() error {
		if child != "" {
			return watcher(ctx, child, o.watch)
		}
		if profile == "" {
			return measure(ctx, o, only)
		}
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		err = measure(ctx, o, only)
		pprof.StopCPUProfile()
		return errors.Join(err, f.Close())
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

// measure runs the benchmarks that only matches and prints their rows.
func measure(ctx context.Context, o options, only string) (err error) {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	names := make([]string, 0, len(benches))
	for _, b := range benches {
		names = append(names, b.name)
	}
	if !slices.ContainsFunc(names, wanted.MatchString) {
		return fmt.Errorf("-run: %q is none of %s", only, strings.Join(names, ", "))
	}
	if _, err := os.Stat(o.binary); err != nil {
		return fmt.Errorf("the program to measure: %w (make build)", err)
	}
	g, err := newGround(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	r := &report{out: os.Stdout}
	r.begin(o)
	for _, b := range benches {
		if !wanted.MatchString(b.name) {
			continue
		}
		r.section(b.name, b.about)
		if err := b.run(ctx, g, r); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	return nil
}
