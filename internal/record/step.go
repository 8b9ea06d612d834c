package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// step is one thing that is done to the client.
type step struct {
	what string
	do   func(context.Context, *driver) error
}

// do makes a list of steps.
func do(steps ...step) []step { return steps }

// keys presses keys, by tmux's names for them, one after the other. Each waits
// until the screen has come to rest: a burst is taken for a paste.
func keys(names ...string) step {
	return step{"press " + strings.Join(names, " "), func(ctx context.Context, d *driver) error {
		for _, name := range names {
			if err := d.press(ctx, name); err != nil {
				return err
			}
			d.pause(ctx)
		}
		return nil
	}}
}

// quick presses keys with nothing between them.
func quick(names ...string) step {
	return step{"press " + strings.Join(names, " ") + " at once", func(ctx context.Context, d *driver) error {
		return d.press(ctx, names...)
	}}
}

// types types a text as a person would, and sends nothing.
func types(text string) step {
	return step{fmt.Sprintf("type %q", text), func(ctx context.Context, d *driver) error {
		return d.enterText(ctx, text)
	}}
}

// pastes pastes a text in the frame that the client asked for.
func pastes(text string) step {
	return step{"paste a text", func(ctx context.Context, d *driver) error { return d.paste(ctx, text) }}
}

// prompt types a prompt, or pastes one of several lines, sees it in the box and
// sends it.
func prompt(text string) step {
	return step{fmt.Sprintf("prompt %q", text), func(ctx context.Context, d *driver) error {
		first, _, several := strings.Cut(text, "\n")
		first = first[:min(len(first), 40)] // a narrow box breaks it
		put := d.enterText
		if several {
			put = d.paste
		}
		if err := d.fill(ctx, first, func() error { return put(ctx, text) }); err != nil {
			return err
		}
		return d.submit(ctx, first)
	}}
}

// command types a slash command, and Enter once the box shows it.
func command(text string) step {
	return step{"command " + text, func(ctx context.Context, d *driver) error {
		if err := d.fill(ctx, text, func() error { return d.enterText(ctx, text) }); err != nil {
			return err
		}
		return d.press(ctx, "Enter")
	}}
}

// bang runs a shell command from the box.
func bang(line string) step {
	return step{"run ! " + line, func(ctx context.Context, d *driver) error {
		if err := d.press(ctx, "!"); err != nil {
			return err
		}
		d.pause(ctx)
		first := "!" + line[:min(len(line), 30)]
		if err := d.enterText(ctx, line); err != nil {
			return err
		}
		if _, err := d.wait(ctx, typed(first)); err != nil {
			return err
		}
		d.pause(ctx)
		return d.submit(ctx, first)
	}}
}

// tries does the steps again, three times at most, until a condition holds: some
// keys count only close behind another.
func tries(c cond, steps ...step) step {
	return step{"try until " + c.what, func(ctx context.Context, d *driver) error {
		for range 3 {
			for _, s := range steps {
				if err := s.do(ctx, d); err != nil {
					return err
				}
			}
			v, err := d.see(ctx)
			if err != nil || c.holds(v) {
				return err
			}
		}
		return nil // the scene's own condition says what is wrong
	}}
}

// until waits in the middle of a scene.
func until(c cond) step {
	return step{"wait until " + c.what, func(ctx context.Context, d *driver) error {
		_, err := d.wait(ctx, c)
		return err
	}}
}

// soon waits a little for a condition and goes on without it.
func soon(c cond) step {
	return step{"wait a little until " + c.what, func(ctx context.Context, d *driver) error {
		var m *missed
		_, err := d.wait(ctx, slow(6*time.Second, c))
		if errors.As(err, &m) {
			return nil
		}
		return err
	}}
}

// shell runs a command line at the prompt of the shell that the client left.
func shell(line string) step {
	return step{"run " + line, func(ctx context.Context, d *driver) error { return d.atPrompt(ctx, line) }}
}

// rest waits until the screen has come to rest.
var rest = step{"let the screen come to rest", func(ctx context.Context, d *driver) error {
	d.pause(ctx)
	return nil
}}

// releases lets the turns go that the API holds.
var releases = step{"release the turns", func(_ context.Context, d *driver) error {
	d.rig.API().ReleaseAll()
	return nil
}}

// kills ends the client as a crash would.
var kills = step{"kill the client", func(ctx context.Context, d *driver) error { return d.host.KillClient(ctx) }}

// maybe does a step only where a condition holds at once.
func maybe(c cond, s step) step {
	return step{s.what + " if " + c.what, func(ctx context.Context, d *driver) error {
		v, err := d.see(ctx)
		if err != nil || !c.holds(v) {
			return err
		}
		return s.do(ctx, d)
	}}
}

// tmuxes runs a command of tmux on the pane.
func tmuxes(args ...string) step {
	return step{"tmux " + strings.Join(args, " "), func(ctx context.Context, d *driver) error {
		_, err := d.host.Tmux(ctx, append([]string{args[0], "-t", pane}, args[1:]...)...)
		return err
	}}
}
