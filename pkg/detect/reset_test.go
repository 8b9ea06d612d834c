package detect

import (
	"testing"
	"time"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	l, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestResetTime(t *testing.T) {
	seoul, ny, kolkata := zone(t, "Asia/Seoul"), zone(t, "America/New_York"), zone(t, "Asia/Kolkata")
	none := time.Time{}
	noon := date(2026, time.November, 29, 12, 0)
	cases := []struct {
		name    string
		text    string
		now     time.Time
		zone    *time.Location
		printed time.Time
		want    time.Time
		exact   bool
	}{
		{"epoch", "Claude AI usage limit reached|1760000400", noon, nil, none, time.Unix(1760000400, 0), true},
		{"epoch in ms", "limit reached|1760000400000", noon, nil, none, time.Unix(1760000400, 0), true},
		{"not an epoch", "limit reached|17600", noon, nil, none, none, false},
		{"hour and minute, UTC", "You've hit your session limit · resets 4:47pm (UTC)", noon, seoul, none, date(2026, time.November, 29, 16, 47), false},
		{"at the minute itself", "You've hit your session limit · resets 12pm (UTC)", noon.Add(30 * time.Second), nil, none, noon, false},
		{"the host's zone", "You've hit your session limit · resets 9:30pm", noon, seoul, none, date(2026, time.November, 29, 12, 30), false},
		{"no zone at all", "You've hit your session limit · resets 9:30pm", noon, nil, none, none, false},
		{"a zone of half an hour", "You've hit your session limit · resets 6pm", noon, kolkata, none, date(2026, time.November, 29, 12, 30), false},
		{"a zone that is not one", "resets 4pm (Mars/Olympus)", noon, seoul, none, none, false},
		{"a zone that is a path", "resets 4pm (../../etc/passwd)", noon, seoul, none, none, false},
		{"ours is not the host's", "resets 4pm (Local)", noon, seoul, none, none, false},
		{"past midnight", "You've hit your 5-hour limit · resets 1am (UTC)", date(2026, time.December, 31, 22, 0), nil, none, date(2027, time.January, 1, 1, 0), false},
		{"gone by: session limit", "You've hit your session limit · resets 10am (Asia/Seoul)", date(2026, time.March, 3, 4, 32), nil, none, none, false},
		{"session limit, further ahead than one lies", "You've hit your 5-hour limit · resets 6:02pm (UTC)", noon, nil, none, none, false},
		{"the same hour of another limit", "You've hit your limit · resets 6:02pm (UTC)", noon, nil, none, date(2026, time.November, 29, 18, 2), false},
		{"to come today in the words' zone, tomorrow in ours", "You've hit your limit · resets 11pm (Asia/Seoul)", date(2026, time.March, 2, 20, 0), nil, none, date(2026, time.March, 3, 14, 0), false},
		{"gone by: it may be tomorrow", "You've hit your limit · resets 10am (Asia/Seoul)", date(2026, time.March, 3, 4, 32), nil, none, none, false},
		{"gone by, printed before", "You've hit your limit · resets 10am (Asia/Seoul)", date(2026, time.March, 3, 4, 32), nil, date(2026, time.March, 2, 22, 0), date(2026, time.March, 3, 1, 0), true},
		{"printed after that hour", "You've hit your limit · resets 10am (Asia/Seoul)", date(2026, time.March, 3, 4, 32), nil, date(2026, time.March, 3, 3, 0), date(2026, time.March, 4, 1, 0), true},
		{"dated", "You've hit your weekly limit · resets Dec 6, 4:44pm (UTC)", noon, nil, none, date(2026, time.December, 6, 16, 44), true},
		{"dated, at", "You've hit your weekly limit · resets Dec 6 at 4pm (UTC)", noon, nil, none, date(2026, time.December, 6, 16, 0), true},
		{"dated over New Year", "You've hit your weekly limit · resets Jan 2, 5pm (UTC)", date(2026, time.December, 30, 9, 0), nil, none, date(2027, time.January, 2, 17, 0), true},
		{"dated before New Year, read after", "resets Dec 30, 5pm (UTC)", date(2027, time.January, 2, 9, 0), nil, none, date(2026, time.December, 30, 17, 0), true},
		{"dated with a year, no clock", "resets Jan 2, 2027, 5pm (UTC)", none, nil, none, date(2027, time.January, 2, 17, 0), true},
		{"a day that is none", "resets Feb 30, 5pm (UTC)", noon, nil, none, none, false},
		{"sentence", "Claude usage limit reached. Your limit will reset at 4pm (UTC).", noon, nil, none, date(2026, time.November, 29, 16, 0), false},
		{"24 hours", "session limit · resets 16:47 (UTC)", noon, nil, none, date(2026, time.November, 29, 16, 47), false},
		{"a bare number", "resets 16 (UTC)", noon, nil, none, none, false},
		{"no such hour", "resets 13pm (UTC)", noon, nil, none, none, false},
		{"no such minute", "resets 4:70pm (UTC)", noon, nil, none, none, false},
		{"no time", "limit to reset", noon, nil, none, none, false},
		{"no clock", "resets 4pm (UTC)", none, nil, none, none, false},
		{"into summer time", "You've hit your session limit · resets 3:30am (America/New_York)", time.Date(2026, time.March, 8, 1, 0, 0, 0, ny), nil, none, date(2026, time.March, 8, 7, 30), false},
		{"an hour that is skipped", "You've hit your session limit · resets 2:30am (America/New_York)", time.Date(2026, time.March, 8, 1, 0, 0, 0, ny), nil, none, none, false},
		{"out of summer time", "You've hit your session limit · resets 3:30am (America/New_York)", time.Date(2026, time.November, 1, 0, 0, 0, 0, ny), nil, none, date(2026, time.November, 1, 8, 30), false},
		{"an hour that comes twice", "You've hit your session limit · resets 1:30am (America/New_York)", time.Date(2026, time.November, 1, 0, 0, 0, 0, ny), nil, none, none, false},
	}
	for _, c := range cases {
		at, exact := resetTime(c.text, c.now, c.zone, c.printed)
		if !at.Equal(c.want) || exact != c.exact {
			t.Errorf("%s: %v exact %v, want %v exact %v", c.name, at.UTC(), exact, c.want, c.exact)
		}
	}
}

// TestLapsed holds when a limit that has reset frees the session: only an exact
// instant in the past, above an idle box.
func TestLapsed(t *testing.T) {
	banner := func(words string) string {
		return prompt("x") + "\n" + grey + "  ⎿ \u00a0" + red + words + plain + "\n"
	}
	at := func(e Evidence, now time.Time) Evidence { e.Now = now; return e }
	dated := "You've hit your weekly limit · resets Dec 6, 4pm (UTC)"
	before, after := date(2026, time.December, 6, 15, 0), date(2026, time.December, 6, 17, 0)
	hour := "You've hit your session limit · resets 4pm (UTC)"
	strip := "  ⚠ Usage limit reached · limit resets 4pm\n    Continuing automatically at 4pm · Esc to cancel\n"
	cases := []struct {
		name  string
		e     Evidence
		want  State
		reset time.Time
		auto  bool
	}{
		{"not yet", at(drawn(banner(dated), idle(""), modeLine), before), Limited, date(2026, time.December, 6, 16, 0), false},
		{"over", at(drawn(banner(dated), idle(""), modeLine), after), Ready, time.Time{}, false},
		{"over, but a turn runs", at(drawn(banner(dated), working(), modeLine), after), Busy, time.Time{}, false},
		{"over, but the box is not whole", at(drawn(banner(dated), idle(""), "here"), after), Unknown, time.Time{}, false},
		{"over, the client still waits", at(drawn(banner(dated), idle(""), strip+modeLine), after), Limited, date(2026, time.December, 6, 16, 0), true},
		{"an hour is not a proof", at(drawn(banner(hour), idle(""), modeLine), after), Limited, time.Time{}, false},
		{"no clock", drawn(banner(dated), idle(""), modeLine), Limited, time.Time{}, false},
		{"answered since", drawn(banner(dated), prompt("again"), "", answer("yes"), "", idle(""), modeLine), Ready, time.Time{}, false},
		{"a command since", drawn(banner(dated), prompt("/status"), "  ⎿  Status dialog dismissed", "", idle(""), modeLine), Limited, time.Time{}, false},
		{"the client will go on", drawn(banner(hour), grey+"● Usage limit reached · set to continue automatically at 4pm"+plain, "", idle(""), modeLine), Limited, time.Time{}, true},
		{"that was cancelled", drawn(banner(hour), grey+"● Usage limit reached · set to continue automatically at 4pm"+plain, "", grey+"● Automatic continue cancelled · /rate-limit-options to wait again"+plain, "", idle(""), modeLine), Limited, time.Time{}, false},
	}
	for _, c := range cases {
		v := Classify(c.e)
		var got time.Time
		if v.ResetAt != nil {
			got = *v.ResetAt
		}
		if v.State != c.want || !got.Equal(c.reset) || v.AutoResume != c.auto {
			t.Errorf("%s: %s by %s, reset %v, auto %v (%s); want %s, %v, %v", c.name, v.State, v.Rule, got, v.AutoResume, v.Why, c.want, c.reset, c.auto)
		}
	}
}

func FuzzResetTime(f *testing.F) {
	for _, s := range []string{"resets 6:47pm (UTC)", "resets Oct 9, 5pm", "reset|1760000400", "resets Jan 2, 2027 at 5pm (Asia/Seoul)", "will reset at 7pm"} {
		f.Add(s)
	}
	now := date(2026, time.November, 29, 12, 0)
	f.Fuzz(func(t *testing.T, s string) {
		at, exact := resetTime(s, now, time.UTC, time.Time{})
		if exact && at.IsZero() {
			t.Errorf("%q: an exact nothing", s)
		}
	})
}
