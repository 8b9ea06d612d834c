package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

// cost is what one doing took: the time that passed; the CPU time of the clients,
// which is of this process and its children, or of the processes that were started;
// and the CPU time of the hosts.
type cost struct{ wall, cpu, host time.Duration }

// way is one way of doing a thing.
type way struct {
	name   string
	do     func(context.Context) (cost, error)
	rounds int // that do makes of its sample, whose cost is that of one; 0 is 1
}

// inTurns takes samples of each way, one after another, so that the machine's load
// falls on all alike, and gives the medians in the order of the ways. settle is called
// around each sample, for what is left behind.
func (g *ground) inTurns(ctx context.Context, settle func(context.Context) error, ways ...way) ([]cost, error) {
	samples := make([][]cost, len(ways))
	if err := settle(ctx); err != nil {
		return nil, err
	}
	for range g.times {
		for i, w := range ways {
			before := g.hostCPU()
			c, err := w.do(ctx)
			if err == nil {
				err = settle(ctx)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.name, err)
			}
			if c.host == 0 { // what do has not counted itself
				c.host = (g.hostCPU() - before) / time.Duration(max(w.rounds, 1))
			}
			samples[i] = append(samples[i], c)
		}
	}
	all := make([]cost, len(ways))
	for i, s := range samples {
		of := func(part func(cost) time.Duration) time.Duration {
			var d []time.Duration
			for _, c := range s {
				d = append(d, part(c))
			}
			return median(d)
		}
		all[i] = cost{of(func(c cost) time.Duration { return c.wall }), of(func(c cost) time.Duration { return c.cpu }), of(func(c cost) time.Duration { return c.host })}
	}
	return all, nil
}

func median(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return (d[(len(d)-1)/2] + d[len(d)/2]) / 2
}

// unsettled is for ways that leave nothing behind.
func unsettled(ctx context.Context) error { return ctx.Err() }

// within measures what this process does, the programs that it runs for it included.
func within(do func() error) (cost, error) {
	cpu, begin := ownCPU(), time.Now()
	err := do()
	return cost{wall: time.Since(begin), cpu: ownCPU() - cpu}, err
}

// ownCPU is the CPU time of this process and of the children that it has waited for.
func ownCPU() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

// command runs a program, in this process's environment if env is nil, and gives its
// cost and what it printed.
func command(ctx context.Context, env []string, name string, args ...string) (cost, []byte, error) {
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.Env, cmd.WaitDelay = env, 5*time.Second
	begin := time.Now()
	err := cmd.Run()
	c := cost{wall: time.Since(begin)}
	if s := cmd.ProcessState; s != nil {
		c.cpu = s.UserTime() + s.SystemTime()
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %.300s%.300s", name, err, said.Bytes(), out.Bytes())
	}
	return c, out.Bytes(), err
}

// together runs do for each of n at once. The cost's time is until the last is done,
// its CPU time the sum.
func together(n int, do func(i int) (cost, error)) (cost, error) {
	costs, errs := make([]cost, n), make([]error, n)
	var wait sync.WaitGroup
	begin := time.Now()
	for i := range n {
		wait.Go(func() { costs[i], errs[i] = do(i) })
	}
	wait.Wait()
	total := cost{wall: time.Since(begin)}
	for i, c := range costs {
		if errs[i] != nil {
			return cost{}, errs[i]
		}
		total.cpu += c.cpu
	}
	return total, nil
}

// repeated is a way whose samples are rounds that follow each other at once, the cost
// being that of one: what a way does behind its answer falls on its own next round.
func repeated(name string, rounds int, do func(context.Context) (cost, error)) way {
	return way{name, func(ctx context.Context) (cost, error) {
		var sum cost
		for range rounds {
			c, err := do(ctx)
			if err != nil {
				return cost{}, err
			}
			sum.wall += c.wall
			sum.cpu += c.cpu
		}
		return cost{wall: sum.wall / time.Duration(rounds), cpu: sum.cpu / time.Duration(rounds)}, nil
	}, rounds}
}

// eventually polls until ok, or fails after deadline.
func eventually(ctx context.Context, what string, ok func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, deadline, fmt.Errorf("not after %v: %s", deadline, what))
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func writeFile(path string, text []byte) error { return os.WriteFile(path, text, 0o600) }
