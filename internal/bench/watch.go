package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

const (
	// watchLooks is how often each endpoint is looked at before a watch without a
	// time is over.
	watchLooks = 4
	watchLimit = 120 // MiB, of the process that watches
)

// telling is what the process that watches says of itself, a line a time.
type telling struct {
	Seconds    float64
	Looks      int
	RSS, Heap  float64 // MiB; Heap is what is in use behind a collection
	Goroutines int
	CPU        float64 // seconds, since the last telling
	Since      int     // looks since then
}

// watch measures a process that watches a large fleet, and does nothing else.
func watch(ctx context.Context, g *ground, r *report) error {
	ends, err := g.fleet(ctx, g.watched)
	if err != nil {
		return err
	}
	table, err := g.table("watched", false, places(ends))
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "-watcher", table, "-watch", g.watch.String())
	cmd.Stderr, cmd.WaitDelay = os.Stderr, 5*time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var first, last telling
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if err := json.Unmarshal(lines.Bytes(), &last); err != nil {
			return errors.Join(fmt.Errorf("the watcher said %q: %w", lines.Text(), err), cmd.Wait())
		}
		if first.Looks == 0 {
			first = last
		}
		if g.watch > 0 {
			r.tell(fmt.Sprintf("after %.0f s, %d looks", last.Seconds, last.Looks), fmt.Sprintf("%.1f MiB RSS, %.1f MiB heap, %d goroutines", last.RSS, last.Heap, last.Goroutines))
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("the watcher: %w", err)
	}
	if last.Since == 0 {
		return errors.New("the watcher looked at nothing")
	}
	r.bound(fmt.Sprintf("%d endpoints: resident memory", len(ends)), last.RSS, watchLimit, "MiB")
	r.tell("heap in use", amount(last.Heap, "MiB"))
	if g.watch > 0 {
		r.tell("growth of resident memory since the first line", amount(last.RSS-first.RSS, "MiB"))
	}
	r.tell("CPU of a look", amount(last.CPU/float64(last.Since)*1000, "ms"))
	return nil
}

// watcher watches a fleet and tells of itself on standard output: each minute for as
// long as it is to last, or once each endpoint was seen watchLooks times.
func watcher(ctx context.Context, table string, long time.Duration) error {
	f, err := fleet.Load(table)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	hosts := len(f.Table().Hosts)
	begin, looks, told := time.Now(), 0, 0
	warm, every := 2*hosts, time.Minute // the first looks connect
	cpu, next := time.Duration(0), time.Now().Add(every)
	tell := func() error {
		var m runtime.MemStats
		rss := residentMiB() // before the collection, as a user would see it
		runtime.GC()
		runtime.ReadMemStats(&m)
		now := ownCPU()
		line, err := json.Marshal(telling{time.Since(begin).Seconds(), looks, rss, float64(m.HeapInuse) / (1 << 20), runtime.NumGoroutine(), (now - cpu).Seconds(), looks - told})
		cpu, told = now, looks
		fmt.Println(string(line))
		return err
	}
	for w := range f.Watch(ctx, fleet.WatchOptions{}) {
		if err := right(w.Status); err != nil {
			return err
		}
		switch looks++; {
		case looks == warm:
			cpu, told = ownCPU(), looks
		case long == 0 && looks == watchLooks*hosts, long > 0 && time.Since(begin) > long:
			return tell()
		case long > 0 && time.Now().After(next):
			next = next.Add(every)
			if err := tell(); err != nil {
				return err
			}
		}
	}
	return context.Cause(ctx)
}

// residentMiB is the memory of this process that is in RAM, or where the system does
// not tell the most that it ever was.
func residentMiB() float64 {
	if raw, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := strings.Fields(string(raw)); len(fields) > 1 {
			if pages, err := strconv.Atoi(fields[1]); err == nil {
				return float64(pages) * float64(os.Getpagesize()) / (1 << 20)
			}
		}
	}
	return peakMiB()
}
