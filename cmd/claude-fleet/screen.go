package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// maxSaved bounds the file of a saved screen, in bytes. A pane of 500x200 with
// an escape at each cell has half of that.
const maxSaved = 4 << 20

// savedScreen is a screen in a file and what else is known of that moment.
type savedScreen struct {
	file, title, now, zone string
	alternate              bool
}

func (s *savedScreen) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.file, "screen", "", "explain the screen saved in `FILE` (- for standard input), escapes and all")
	f.StringVar(&s.title, "title", "", "with --screen: the pane's title then")
	f.BoolVar(&s.alternate, "alternate", false, "with --screen: the pane showed its alternate screen")
	f.StringVar(&s.now, "now", "", "with --screen: the `TIME` then, as 2026-01-31T15:04:05Z, '2026-01-31 15:04' (in --zone) or seconds since 1970")
	f.StringVar(&s.zone, "zone", "", "with --screen: the host's time `ZONE`, as Europe/Oslo")
	_ = cmd.MarkFlagFilename("screen")
}

// name is what to call the file in words, safe for a terminal.
func (s *savedScreen) name() string {
	if s.file == "-" {
		return "the screen on standard input"
	}
	return transport.Neutralise(s.file)
}

func (s *savedScreen) given() bool { return s.file != "" }

// check refuses flags that say nothing without a saved screen.
func (s *savedScreen) check() error {
	if !s.given() && (s.title != "" || s.now != "" || s.zone != "" || s.alternate) {
		return usagef("explain: --title, --alternate, --now and --zone go with --screen FILE: a host tells them itself")
	}
	return nil
}

// evidence reads the file and the flags.
func (s *savedScreen) evidence(ctx context.Context, in io.Reader) (detect.Evidence, error) {
	e := detect.Evidence{Title: s.title, Alternate: s.alternate, CursorX: -1, CursorY: -1}
	var err error
	if s.zone != "" {
		if e.Zone, err = time.LoadLocation(s.zone); err != nil || s.zone == "Local" {
			return e, usagef("--zone %q is no time zone that is known here; name one as Europe/Oslo or UTC", s.zone)
		}
	}
	if s.now != "" {
		if e.Now, err = parseTime(s.now, e.Zone); err != nil {
			return e, err
		}
	}
	e.Screen, err = s.read(ctx, in)
	return e, err
}

func (s *savedScreen) read(ctx context.Context, in io.Reader) ([]byte, error) {
	b, err := readInput(ctx, s.file, in, maxSaved+1)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("interrupted while the screen in %s was read", s.file)
	}
	if err != nil {
		return nil, s.unreadable(err)
	}
	if len(b) > maxSaved {
		return nil, usagef("%s is over %d MiB long: that is no screen", s.file, maxSaved>>20)
	}
	return b, nil
}

// unreadable names the file once.
func (s *savedScreen) unreadable(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	}
	return usagef("can't read the screen in %s: %w", s.file, err)
}

// escapes tells whether a screen that shows something was saved with escapes.
func (s *savedScreen) escapes(e detect.Evidence) bool {
	return len(bytes.TrimSpace(e.Screen)) == 0 || bytes.ContainsRune(e.Screen, 0x1b)
}

// parseTime reads the forms that --now takes.
func parseTime(text string, zone *time.Location) (time.Time, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 && n < 1<<36 {
		return time.Unix(n, 0).UTC(), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	for _, form := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		t, err := time.ParseInLocation(form, text, time.UTC)
		if err != nil {
			continue
		}
		if zone == nil {
			return t, usagef("--now %q has no zone: add one, as in %sZ, or give --zone", text, t.Format("2006-01-02T15:04:05"))
		}
		return time.ParseInLocation(form, text, zone)
	}
	return time.Time{}, usagef("--now %q is no time; write 2026-01-31T15:04:05Z, '2026-01-31 15:04' or seconds since 1970", text)
}
