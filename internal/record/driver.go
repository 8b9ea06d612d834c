package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
)

// pane is the target of all that is done in tmux.
const pane = "=claude:"

// How often the screen is looked at, how long it has to stay the same to be at
// rest, and how long that is waited for: some screens never rest.
const (
	lookEvery  = 120 * time.Millisecond
	restFor    = 600 * time.Millisecond
	pauseFor   = 300 * time.Millisecond
	restWithin = 8 * time.Second
	goneWithin = 3 * time.Second
)

// driver drives one client in one pane. It is one goroutine's.
type driver struct {
	rig   *rig.Rig
	host  *rig.Host
	track track
	conf  config
	// ran says that the client of this start has been seen running.
	ran bool
	// dead says why the client does not start; empty while it does.
	dead string
	// pid is the client that was last seen running; 0 for none.
	pid int
	// state is ~/.claude.json as it was before the first start.
	state []byte
}

// start begins the client in a new pane, in place of the one that stood there.
func (d *driver) start(ctx context.Context) error {
	_, _ = d.host.Tmux(ctx, "kill-server") // fails where none runs
	_ = d.host.KillClient(ctx)             // and so does this
	d.ran = false
	// The client remembers how it ended: after a few kills, 2.1.332 stays off the
	// alternate screen.
	if err := os.WriteFile(filepath.Join(d.host.Home, ".claude.json"), d.state, 0o600); err != nil {
		return fmt.Errorf("write the client's state: %w", err)
	}
	line := strings.Join(strings.Fields("claude "+d.track.args+" "+d.conf.setting.args), " ")
	program := line + "; exec bash --norc"
	if d.track.shell {
		program = "exec bash --norc"
	}
	// A server that is on its way out takes the first of these down with it.
	var err error
	for range 5 {
		_, err = d.host.Tmux(ctx, "-f", "/dev/null", "start-server",
			";", "set", "-g", "default-terminal", "tmux-256color", ";", "set", "-g", "status", "off",
			";", "set", "-g", "history-limit", "2000", ";", "set", "-s", "escape-time", "0",
			";", "new-session", "-d", "-s", "claude", "-x", fmt.Sprint(d.conf.width), "-y", fmt.Sprint(d.conf.height), "-c", d.host.Workdir,
			"bash", "-c", "read -r _; clear; "+program)
		if err == nil || tick(ctx, 300*time.Millisecond) != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	// The pane's own title is the machine's name, which is nobody's business.
	if _, err := d.host.Tmux(ctx, "select-pane", "-T", d.host.Name, "-t", pane, ";", "send-keys", "-t", pane, "Enter"); err != nil {
		return err
	}
	if !d.track.shell || d.track.args == "" {
		return nil
	}
	return d.atPrompt(ctx, line)
}

// atPrompt runs a command line at the prompt of the shell.
func (d *driver) atPrompt(ctx context.Context, line string) error {
	if _, err := d.atRest(ctx, prompting, pauseFor, usual); err != nil {
		return err
	}
	d.ran = false
	if err := d.enterText(ctx, line); err != nil {
		return err
	}
	return d.press(ctx, "Enter")
}

func (d *driver) press(ctx context.Context, names ...string) error {
	_, err := d.host.Tmux(ctx, append([]string{"send-keys", "-t", pane}, names...)...)
	return err
}

// enterText types characters as they are. A closing semicolon is tmux's own.
func (d *driver) enterText(ctx context.Context, text string) error {
	if rest, found := strings.CutSuffix(text, ";"); found {
		text = rest + `\;`
	}
	return d.press(ctx, "-l", "--", text)
}

func (d *driver) paste(ctx context.Context, text string) error {
	_, err := d.host.Tmux(ctx, "set-buffer", "-b", "record", "--", text, ";", "paste-buffer", "-p", "-r", "-d", "-b", "record", "-t", pane)
	return err
}

// fill puts a text into the box until the box shows it. Versions up to 2.1.0 lose
// the first characters behind an Escape.
func (d *driver) fill(ctx context.Context, first string, put func() error) error {
	for try := 1; ; try++ {
		if err := put(); err != nil {
			return err
		}
		_, err := d.wait(ctx, slow(5*time.Second, typed(first)))
		if err == nil {
			d.pause(ctx)
			return nil
		}
		var m *missed
		if !errors.As(err, &m) || try == 3 {
			return err
		}
		if err := d.press(ctx, "C-u"); err != nil {
			return err
		}
		d.pause(ctx)
	}
}

// submit presses Enter until the box has let the text go: older versions take an
// Enter close behind a text for a part of it.
func (d *driver) submit(ctx context.Context, first string) error {
	var err error
	for range 3 {
		if err = d.press(ctx, "Enter"); err != nil {
			return err
		}
		if _, err = d.wait(ctx, slow(4*time.Second, not(typed(first)))); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// missed is an error of a condition that did not come about.
type missed struct {
	what string
	last *view
}

func (m *missed) Error() string { return "not in time: " + m.what }

// wait looks again and again until the condition holds, for as long as that
// gives it. It waits no longer than goneWithin for a client that has gone.
func (d *driver) wait(ctx context.Context, c cond) (*view, error) {
	late := time.Now().Add(c.deadline())
	var lost time.Time
	for {
		v, err := d.see(ctx)
		if err != nil {
			return nil, err
		}
		if c.holds(v) {
			return v, nil
		}
		switch {
		case v.process != "gone":
			d.ran, lost = true, time.Time{}
		case !d.ran:
		case lost.IsZero():
			lost = time.Now()
		case time.Since(lost) > goneWithin:
			return nil, &missed{c.what + ", and the client has gone", v}
		}
		if time.Now().After(late) {
			return nil, &missed{c.what, v}
		}
		if err := tick(ctx, lookEvery); err != nil {
			return nil, err
		}
	}
}

// pause waits until the screen has stood still for a moment, and not long for
// one that never does.
func (d *driver) pause(ctx context.Context) {
	_, _ = d.atRest(ctx, anything, pauseFor, 2*time.Second)
}

// atRest waits until the screen has stayed the same for a while and the
// condition held all that time. One that does not come to rest within the limit
// is taken as it is, if the condition holds.
func (d *driver) atRest(ctx context.Context, c cond, long, within time.Duration) (*view, error) {
	late := time.Now().Add(within)
	var same *view
	var since time.Time
	for {
		v, err := d.see(ctx)
		if err != nil {
			return nil, err
		}
		switch {
		case !c.holds(v):
			same = nil
		case same == nil || v.raw != same.raw || v.witnesses != same.witnesses:
			same, since = v, time.Now()
		case time.Since(since) >= long:
			return v, nil
		}
		if time.Now().After(late) {
			if same != nil {
				return same, nil
			}
			return nil, &missed{c.what + ", and goes on to hold", v}
		}
		if err := tick(ctx, lookEvery); err != nil {
			return nil, err
		}
	}
}

// settle brings the client back to an idle, empty box, whatever it was doing,
// starting it anew where that is not to be had.
func (d *driver) settle(ctx context.Context, fresh bool) error {
	for range 6 {
		d.rig.API().ReleaseAll()
		wait := 2 * time.Second
		if fresh {
			wait = firstScreen
		}
		_, err := d.wait(ctx, slow(wait, idle))
		if err == nil {
			_, err = d.atRest(ctx, idle, restFor, restWithin)
			if err == nil {
				return d.insert(ctx)
			}
		}
		var m *missed
		if !errors.As(err, &m) {
			return err
		}
		if fresh {
			if m.last.process == "gone" {
				d.dead = "the client does not start"
			}
			return err
		}
		if m.last.process != "running" {
			break
		}
		if err := d.press(ctx, d.wayOut(m.last)...); err != nil {
			return err
		}
		d.pause(ctx)
	}
	if err := d.start(ctx); err != nil {
		return err
	}
	return d.settle(ctx, true)
}

// insert brings vim's box into INSERT mode. The mark of that mode may be hidden
// by a notice; then the key is typed, and taken back.
func (d *driver) insert(ctx context.Context) error {
	if !d.conf.setting.vim {
		return nil
	}
	v, err := d.see(ctx)
	if err != nil || v.has("-- INSERT") {
		return err
	}
	if err := d.press(ctx, "i"); err != nil {
		return err
	}
	d.pause(ctx)
	if v, err = d.see(ctx); err != nil {
		return err
	}
	if text, _ := v.box(); text == "i" {
		return d.press(ctx, "BSpace")
	}
	return nil
}

// wayOut are the keys that lead one step towards an idle, empty box. One Ctrl-C
// clears a draft of any number of lines; a second would end the client.
func (d *driver) wayOut(v *view) []string {
	if v.mode {
		return []string{"-X", "cancel"}
	}
	if text, ok := v.box(); ok && text != "" && v.atRest() {
		if text[0] == '!' || text[0] == '#' {
			return []string{"C-u", "BSpace"}
		}
		return []string{"C-c"}
	}
	return []string{"Escape"}
}

func tick(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
