package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// choosing is the way to one option of a dialog, a key at a time. A key is pressed
// only while the screen is the one that was judged, and none before the one before
// it has shown: with a second on its way, Enter could choose another row than the
// one that is seen to be selected.
type choosing struct {
	f     *Fleet
	h     Host
	keys  []string // that were pressed, or may have been, in order
	tries int      // keys that were not, since the screen had changed
	lost  error    // the answer about the newest key was lost: it may have been pressed
	away  error    // why the newest look got no answer; nil when it got one
	again bool     // a key that showed no effect was pressed a second time
}

const (
	// pressLimit bounds one key. Its script runs to its end whatever becomes of the
	// caller, so that it is known whether the key was pressed.
	pressLimit = 30 * time.Second
	// The client was seen to miss a key right behind the drawing of a dialog
	// (2.1.332). So a dialog has to stand for standWait before the first, and one
	// that moves the selection is pressed again, once, when it shows nothing in
	// moveWait. It may have been late all the same, and then two are on their way:
	// before Enter the selection has to rest for restWait.
	standWait = pause
	moveWait  = 5 * time.Second
	restWait  = 3 * time.Second
	// settleLimit bounds the wait for a screen to stand still before the first key.
	settleLimit = 5 * time.Second
	// enoughLooks is how often an effect is looked for at least, however slow a
	// machine is to answer.
	enoughLooks = 5
)

var (
	errRestless = errors.New("the screen changed again and again before the key could be pressed")
	errOther    = errors.New("the dialog gave way to another screen")
	errUnmoved  = errors.New("the selection did not move")
)

// reach is what a wait for the effect of a key came to.
type reach int

const (
	reachLate  reach = iota // nothing came of it in time
	reachDone               // the dialog is there, and as it should be
	reachOther              // something else is there
)

// key presses one key at the session as it was seen, from row from on. pressed is
// false when the screen was not that any more, and is to be looked at again.
func (c *choosing) key(ctx context.Context, look seen, from int, key string) (pressed bool, err error) {
	return c.act(ctx, look, from, key, func(ctx context.Context, g tmux.Guard) error {
		return tmux.PressAlone(ctx, c.f.conn(c.h), g, key)
	})
}

// act is key for anything that types; name is what to call it.
func (c *choosing) act(ctx context.Context, look seen, from int, name string, do func(context.Context, tmux.Guard) error) (done bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	guard := tmux.GuardOf(*look.pane)
	guard.From = from
	typing, cancel := c.f.conns.WithTimeout(context.WithoutCancel(ctx), pressLimit)
	defer cancel()
	err = do(typing, guard)
	_, lost := transport.KindOf(err)
	switch {
	case err == nil, lost && transport.Started(err):
		c.keys, c.lost = append(c.keys, name), err
		return true, nil
	case errors.Is(err, tmux.ErrChanged), errors.Is(err, tmux.ErrLocked):
		c.tries++
		most, gap := keyTries, pause/4
		if errors.Is(err, tmux.ErrLocked) { // a sender is done within lockWait
			most, gap = int(lockWait/pause), pause
		}
		if c.tries > most || !wait(ctx, gap) {
			return false, errors.Join(errRestless, err)
		}
		return false, nil
	}
	return false, err
}

// await looks until a dialog that is start's, but for option but, is as done
// wants, or until something else is there for certain, and gives up after limit.
func (c *choosing) await(ctx context.Context, limit time.Duration, start face, but int, done func(face) bool) (look seen, now face, r reach) {
	var before seen
	since := time.Now()
	for looks := 1; ; looks++ {
		s := c.f.probeOne(ctx, c.h)
		if c.away = nil; s.Err == nil {
			look = s
			f, ok := faceOf(look)
			switch {
			case ok && start.sameBut(f, but):
				before = seen{}
				if done(f) {
					return look, f, reachDone
				}
			case ok && f.partOf(start):
				before = seen{}
			case before.State != "" && settledOn(before, look):
				return look, f, reachOther
			default:
				before = look
			}
		} else if c.away = s.Err; look.State == "" {
			look = s
		}
		if looks >= enoughLooks && time.Since(since) > limit || !wait(ctx, pause/2) {
			return look, now, reachLate
		}
	}
}

// settle looks again until one and the same thing has stood for d: a first look
// may meet a dialog that is half drawn, or the screen from before it. What never
// settles is given back as it was seen last.
func (c *choosing) settle(ctx context.Context, look seen, d time.Duration) seen {
	began := time.Now()
	since := began
	for looks := 1; look.Err == nil && (time.Since(began) < settleLimit || looks < enoughLooks); looks++ {
		if !wait(ctx, pause/2) {
			return look
		}
		next := c.f.probeOne(ctx, c.h)
		if next.Err != nil {
			return next
		}
		if !settledOn(look, next) {
			since = time.Now()
		}
		if look = next; time.Since(since) >= d {
			return look
		}
	}
	return look
}

// taken tells why keys would meet a person's; empty when nobody is at the pane.
func (s seen) taken() (why, hint string) {
	age := s.At.Sub(s.pane.Touched)
	switch {
	case s.pane.InMode:
		return "somebody reads in that pane's history (tmux's copy mode), which takes the keys", "leave it there: claude-fleet attach " + s.Host.Name
	case !s.pane.Touched.IsZero() && age >= 0 && age < personWait:
		return fmt.Sprintf("somebody is at the keyboard of that session (last key %d s ago)", int(age.Seconds())), "try again when they have finished"
	}
	return "", ""
}

// settledOn tells whether two looks running saw the same thing, and not one that
// may be half drawn.
func settledOn(a, b seen) bool {
	if a.State != b.State || b.State == detect.Unknown && b.Rule != "viewer.transcript" || b.Rule == "witness.client-waiting" {
		return false
	}
	if a.Dialog == nil || b.Dialog == nil {
		return a.Dialog == b.Dialog
	}
	return a.Dialog.Title == b.Dialog.Title && a.Dialog.Selected == b.Dialog.Selected && slices.Equal(a.Dialog.Options, b.Dialog.Options)
}

// move brings the selection to an option and returns a look that shows it there.
func (c *choosing) move(ctx context.Context, look seen, start face, want int) (seen, face, error) {
	now, ok := faceOf(look)
	if !ok || !start.same(now) {
		return look, now, errOther
	}
	var err error
	if len(c.keys) == 0 {
		if look, now, err = c.stand(ctx, start, standWait); err != nil {
			return look, now, err
		}
	}
	for {
		for now.Selected != want {
			if len(c.keys) > 2*len(start.Options)+keyTries { // it may go round a list that has no such row
				return look, now, errUnmoved
			}
			if look, now, err = c.moveOne(ctx, look, start, now, want); err != nil {
				return look, now, err
			}
		}
		if !c.again {
			return look, now, nil
		}
		c.again = false
		if look, now, err = c.stand(ctx, start, restWait); err != nil {
			return look, now, err
		}
	}
}

// moveOne presses the key that moves the selection towards an option, and returns
// the look that shows that it has moved. Where the screen had changed before, and
// nothing was pressed, it returns a new look.
func (c *choosing) moveOne(ctx context.Context, look seen, start, now face, want int) (seen, face, error) {
	key := "Down"
	if now.Selected > want {
		key = "Up"
	}
	at := now.Selected
	for _, limit := range []time.Duration{moveWait, stepWait} {
		pressed, err := c.key(ctx, look, now.guarded(), key)
		if err != nil {
			return look, now, err
		}
		next, f, r := c.await(ctx, limit, start, -1, func(f face) bool { return !pressed || f.Selected != at })
		switch {
		case r == reachOther:
			return next, f, errOther
		case r == reachDone:
			return next, f, nil
		case ctx.Err() != nil || !start.stands(next):
			return next, now, c.late(ctx)
		}
		look, c.again = next, true
	}
	return look, now, c.late(ctx)
}

// stand waits until the dialog has stood for a while with one option selected.
func (c *choosing) stand(ctx context.Context, start face, d time.Duration) (seen, face, error) {
	since, at := time.Now(), -1
	look, now, r := c.await(ctx, stepWait, start, -1, func(f face) bool {
		if f.Selected != at {
			since, at = time.Now(), f.Selected
		}
		return time.Since(since) >= d
	})
	switch r {
	case reachOther:
		return look, now, errOther
	case reachLate:
		return look, now, c.late(ctx)
	}
	return look, now, nil
}

// late is why an effect was waited for in vain.
func (c *choosing) late(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case c.lost != nil:
		return c.lost
	case c.away != nil:
		return c.away
	}
	return errUnmoved
}

// choose moves to an option and presses Enter on it, once. What became of that is
// in r: done tells when the dialog itself shows that it was taken.
func (c *choosing) choose(ctx context.Context, look seen, start face, want int, done func(face) bool) (after seen, r reach, err error) {
	for {
		var now face
		if look, now, err = c.move(ctx, look, start, want); err != nil {
			return look, reachLate, err
		}
		pressed, err := c.key(ctx, look, now.guarded(), enterKey)
		if err != nil {
			return look, reachLate, err
		}
		if pressed {
			after, _, r = c.await(ctx, stepWait, start, want, done)
			return after, r, nil
		}
		look, _, r = c.await(ctx, stepWait, start, -1, func(face) bool { return true })
		if r == reachOther {
			return look, r, errOther
		} else if r == reachLate {
			return look, r, c.late(ctx)
		}
	}
}

const enterKey = "Enter"

// entered tells whether Enter was pressed, or may have been.
func (c *choosing) entered() bool { return slices.Contains(c.keys, enterKey) }
