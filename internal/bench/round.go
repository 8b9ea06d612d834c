package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// The interval of a watch whose third look is measured, at first and at most: it is
// doubled for a machine that does not keep up. By then what the first look saw of the
// folders there is too old to be told again.
const (
	roundInterval = 3 * time.Second
	roundMost     = 24 * time.Second
)

// quickInterval is that of a watch whose third look asks for no folders: they were
// looked at less than 3.75 s before.
const quickInterval = 1250 * time.Millisecond

// errLate is a watch that does not keep up with its interval.
var errLate = errors.New("the looks take longer than the interval allows")

// watchLook measures a round of a watch in which all looks are made at once, as the
// clients beside it are started. A watch spreads its looks, so they are held back: the
// network stands still from the end of the second round until every host's third look
// must have been sent, and what is measured is the time from then to the last answer.
// Two looks come before it, since a watch knows more at its third than at its first.
// The fleet has to be reached through the proxy. quick measures a look that asks for no
// folders.
func (g *ground) watchLook(f *fleet.Fleet, quick bool) func(context.Context) (cost, error) {
	return func(ctx context.Context) (c cost, err error) {
		if quick {
			for range 3 {
				if c, err = g.watchRound(ctx, f, quickInterval); !errors.Is(err, errLate) {
					break
				}
			}
			return c, err
		}
		for interval := roundInterval; interval <= roundMost; interval *= 2 {
			if c, err = g.watchRound(ctx, f, interval); !errors.Is(err, errLate) {
				break
			}
		}
		return c, err
	}
}

func (g *ground) watchRound(ctx context.Context, f *fleet.Fleet, interval time.Duration) (c cost, err error) {
	ctx, cancel := context.WithTimeout(ctx, deadline+4*interval)
	defer cancel()
	answers, over := make(chan fleet.Watched), make(chan struct{})
	begin := time.Now()
	go func() {
		defer close(over)
		for w := range f.Watch(ctx, fleet.WatchOptions{Interval: interval, Count: 3}) {
			select {
			case answers <- w:
			case <-ctx.Done():
			}
		}
	}()
	defer func() {
		g.proxy.Resume()
		cancel()
		<-over
	}()
	// take waits until as many answers of one look came, and tells when the last did.
	take := func(poll, n int) (last time.Time, err error) {
		for range n {
			select {
			case w := <-answers:
				if err := right(w.Status); err != nil {
					return last, err
				}
				if w.Poll != poll {
					return last, errLate
				}
				last = w.SeenAt
			case <-over:
				return last, errors.New("the watch ended")
			case <-ctx.Done():
				return last, fmt.Errorf("%d answers to look %d were waited for: %w", n, poll, context.Cause(ctx))
			}
		}
		return last, nil
	}
	hosts := len(f.Table().Hosts)
	for poll := range 2 {
		if _, err := take(poll+1, hosts); err != nil {
			return c, err
		}
	}
	// A pause is its interval give or take a quarter.
	g.proxy.Stall()
	if time.Since(begin) > interval*3/2 {
		return c, errLate
	}
	select {
	case <-time.After(time.Until(begin.Add(interval*5/2 + interval/10))):
	case <-ctx.Done():
		return c, context.Cause(ctx)
	}
	cpu, host, from := ownCPU(), g.hostCPU(), time.Now()
	g.proxy.Resume()
	last, err := take(3, hosts)
	return cost{wall: last.Sub(from), cpu: ownCPU() - cpu, host: g.hostCPU() - host}, err
}
