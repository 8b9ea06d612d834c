package detect

import (
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a reset time names its zone, and the operator's machine may have no zone files
)

// window is how far ahead the reset of a session limit can lie, with slack for
// clocks that differ.
const window = 5*time.Hour + 15*time.Minute

// resetTime reads when a usage limit lifts from the client's own words. The
// forms, as seen: `resets 6:47pm (UTC)`, `resets 10am (Asia/Seoul)`, `resets
// 6:02pm`, `resets Oct 9, 5pm`, `resets Jan 2 at 10am (UTC)`, `will reset at
// 7pm`, `limit reached|1760000400`.
//
// The zero time is an honest none: what the words say fits several days. A
// guess of tomorrow would wait a day too long, one of today would make callers
// that resume at the hour try again and again. exact says that the instant can't be
// another day's: it has an epoch or a date, or printed is known and fixes the
// day. printed is when the words were written, zero when not known; zone is
// the host's, nil when not known.
func resetTime(text string, now time.Time, zone *time.Location, printed time.Time) (at time.Time, exact bool) {
	if i := strings.LastIndexByte(text, '|'); i >= 0 {
		digits := leadingDigits(text[i+1:])
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil && (len(digits) == 10 || len(digits) == 13) {
			if len(digits) == 13 {
				n /= 1000
			}
			return time.Unix(n, 0).UTC(), true
		}
	}
	rest := text
	for {
		i := strings.Index(rest, "reset")
		if i < 0 {
			return time.Time{}, false
		}
		rest = strings.TrimPrefix(rest[i+len("reset"):], "s")
		c, ok := parseClock(strings.TrimPrefix(strings.TrimLeft(rest, " "), "at "))
		if !ok {
			continue
		}
		if c.zone != "" {
			// LoadLocation refuses names that leave its directory.
			l, err := time.LoadLocation(c.zone)
			if err != nil || c.zone == "Local" {
				return time.Time{}, false
			}
			zone = l
		}
		if zone == nil {
			return time.Time{}, false
		}
		return c.resolve(now, zone, printed, sessionLimit(text))
	}
}

// sessionLimit reports whether the words name a limit of the five-hour kind.
func sessionLimit(text string) bool {
	return strings.Contains(text, "session limit") || strings.Contains(text, "5-hour limit")
}

// clock is a wall-clock time as the client prints it.
type clock struct {
	year, day    int // 0 when not printed
	month        time.Month
	hour, minute int
	zone         string
}

// parseClock reads `[Mon D[, YYYY][,| at] ]H[:MM](am|pm) [(zone)]`, or 24-hour H:MM.
func parseClock(t string) (c clock, ok bool) {
	if len(t) > 3 {
		for m := time.January; m <= time.December; m++ {
			if !strings.HasPrefix(t, m.String()[:3]) {
				continue
			}
			t = strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(t, m.String()), m.String()[:3]), " ")
			d := leadingDigits(t)
			c.month = m
			c.day, _ = strconv.Atoi(d)
			if c.day < 1 || c.day > 31 {
				return c, false
			}
			t = strings.TrimLeft(strings.TrimPrefix(t[len(d):], ","), " ")
			if y := leadingDigits(t); len(y) == 4 {
				c.year, _ = strconv.Atoi(y)
				t = strings.TrimLeft(strings.TrimPrefix(t[4:], ","), " ")
			}
			t = strings.TrimPrefix(t, "at ")
			break
		}
	}
	h := leadingDigits(t)
	if len(h) == 0 || len(h) > 2 {
		return c, false
	}
	c.hour, _ = strconv.Atoi(h)
	t = t[len(h):]
	colon := false
	if strings.HasPrefix(t, ":") {
		m := leadingDigits(t[1:])
		if len(m) != 2 {
			return c, false
		}
		c.minute, _ = strconv.Atoi(m)
		t, colon = t[3:], true
	}
	t = strings.TrimLeft(t, " ")
	half := ""
	if len(t) >= 2 {
		half = strings.ToLower(t[:2])
	}
	switch half {
	case "am", "pm":
		if c.hour < 1 || c.hour > 12 {
			return c, false
		}
		c.hour %= 12
		if half == "pm" {
			c.hour += 12
		}
		t = t[2:]
	default:
		if !colon {
			return c, false
		}
	}
	if c.hour > 23 || c.minute > 59 {
		return c, false
	}
	t = strings.TrimLeft(t, " ")
	if strings.HasPrefix(t, "(") {
		if name, _, found := strings.Cut(t[1:], ")"); found && len(name) < 64 {
			c.zone = name
		}
	}
	return c, true
}

func leadingDigits(t string) string {
	n := 0
	for n < len(t) && n < 20 && isDigit(t[n]) {
		n++
	}
	return t[:n]
}

// resolve turns the wall clock into an instant.
func (c clock) resolve(now time.Time, zone *time.Location, printed time.Time, session bool) (time.Time, bool) {
	base, fixed := now, false
	if !printed.IsZero() {
		base, fixed = printed, true
	}
	if base.IsZero() {
		if c.year == 0 {
			return time.Time{}, false
		}
		base = time.Date(c.year, c.month, c.day, 0, 0, 0, 0, zone)
	}
	base = base.In(zone)
	if c.day > 0 {
		return c.dated(base, zone)
	}
	next, ok := c.on(base.Year(), base.Month(), base.Day(), zone)
	if !ok {
		return time.Time{}, false
	}
	if next.Before(base.Truncate(time.Minute)) {
		if next, ok = c.on(base.Year(), base.Month(), base.Day()+1, zone); !ok {
			return time.Time{}, false
		}
	}
	switch {
	case fixed: // the first such hour after the words were written
		return next, !session || next.Sub(base) <= window
	case next.Sub(base) <= window:
		return next, false
	case !session && sameDay(next, base):
		return next, false // still to come today, as a person would read it
	}
	// Gone by today, or further ahead than a session limit can lie: of which day
	// the words are, nobody can tell.
	return time.Time{}, false
}

func sameDay(a, b time.Time) bool { return a.Year() == b.Year() && a.YearDay() == b.YearDay() }

// dated resolves a clock with a day; a missing year is the one that puts it
// nearest to base, so that a January read in December lies ahead.
func (c clock) dated(base time.Time, zone *time.Location) (time.Time, bool) {
	if c.year != 0 {
		return c.on(c.year, c.month, c.day, zone)
	}
	var best time.Time
	for y := base.Year() - 1; y <= base.Year()+1; y++ {
		t, ok := c.on(y, c.month, c.day, zone)
		if ok && (best.IsZero() || t.Sub(base).Abs() < best.Sub(base).Abs()) {
			best = t
		}
	}
	return best, !best.IsZero()
}

// on gives the instant at which the clock shows on a day. There is none where
// the zone's clocks skip it, and none that is sure where they show it twice.
func (c clock) on(year int, month time.Month, day int, zone *time.Location) (time.Time, bool) {
	t := time.Date(year, month, day, c.hour, c.minute, 0, 0, zone)
	want := time.Date(year, month, day, c.hour, c.minute, 0, 0, time.UTC)
	if t.Hour() != c.hour || t.Minute() != c.minute || t.Day() != want.Day() || c.day > 0 && want.Day() != c.day {
		return time.Time{}, false
	}
	for _, d := range [...]time.Duration{-time.Hour, time.Hour, -30 * time.Minute, 30 * time.Minute} {
		if o := t.Add(d); o.Hour() == t.Hour() && o.Minute() == t.Minute() {
			return time.Time{}, false
		}
	}
	return t, true
}
