package main

import (
	"strings"
	"testing"
)

const facts = "cmd=bash alt=1 cursor=2,37 title=✳ a mode=1 title mode=0 hist=7\n"

func look(t *testing.T, raw string) *view {
	t.Helper()
	v, err := parseView(facts + raw)
	if err != nil {
		t.Fatal(err)
	}
	v.process = "running"
	return v
}

func TestParseView(t *testing.T) {
	v := look(t, "\x1b[1mone\x1b[0m\n\ntwo\n")
	if v.x != 2 || v.y != 37 || !v.alt || v.mode || v.title != "✳ a mode=1 title" || v.facts+"\n" != facts {
		t.Errorf("facts %+v", v)
	}
	if len(v.rows) != 3 || v.rows[0] != "one" || v.rows[2] != "two" {
		t.Errorf("rows %q", v.rows)
	}
	for _, bad := range []string{"", "no server running\n", "cmd=bash alt=x cursor=1,1 title= mode=0 hist=0\n"} {
		if _, err := parseView(bad); err == nil {
			t.Errorf("took %q for facts", bad)
		}
	}
}

func TestBox(t *testing.T) {
	const rule = "────\n"
	for _, c := range []struct {
		name, raw, text string
		ok              bool
	}{
		{"empty", rule + "❯\u00a0\x1b[7m \x1b[0m\n" + rule, "", true},
		{"old glyph", "> old\n" + rule + ">\u00a0\n" + rule, "", true},
		{"draft", rule + "❯\u00a0hello\x1b[7m \x1b[0m\n" + rule, "hello", true},
		{"hint", rule + "\x1b[39m❯\u00a0\x1b[7mP\x1b[0;2mress up to edit\x1b[0m\n" + rule, "", true},
		{"the same text, not dim", rule + "❯\u00a0Look up to edit\n" + rule, "Look up to edit", true},
		{"hint without colours", rule + "❯\u00a0Press up to edit queued messages\n" + rule, "", true},
		{"shell mode", rule + "!\u00a0\n" + rule, "!", true},
		{"shell mode, typed", rule + "!\u00a0ls\n" + rule, "!ls", true},
		{"in a frame", "│ >\u00a0hi        │\n", "hi", true},
		{"history only", "❯ hello\n● Done\n", "", false},
		{"reader", "[Screen Reader Mode: on via flag]\n$ hi\n", "hi", true},
		{"a shell's prompt", "$ hi\n", "", false},
	} {
		text, ok := look(t, c.raw).box()
		if text != c.text || ok != c.ok {
			t.Errorf("%s: %q, %v", c.name, text, ok)
		}
	}
}

func TestConditions(t *testing.T) {
	const box = "────\n❯\u00a0\n────\n"
	quote := "said: esc to interrupt\n" + strings.Repeat("more\n", 9)
	for _, c := range []struct {
		name string
		raw  string
		w    witnesses
		cond cond
		want bool
	}{
		{"idle", box, witnesses{status: "idle"}, idle, true},
		{"idle, no session file", box, witnesses{}, idle, true},
		{"idle under a quotation", quote + box, witnesses{}, idle, true},
		{"the file says busy", box, witnesses{status: "busy"}, idle, false},
		{"the API answers", box, witnesses{turns: 1}, idle, false},
		{"the spinner says busy", "✻ Pondering… (esc to interrupt)\n\n" + box, witnesses{}, idle, false},
		{"a retry is due", "⎿ Retrying in 3 seconds…\n" + box, witnesses{}, idle, false},
		{"a spinner with a tip", "✻ Pondering… (esc to interrupt)\n  ⎿  Tip: wait\n\n" + box, witnesses{}, idle, false},
		{"a shell command", "! make\n  ⎿  Running…\n\n" + box, witnesses{}, idle, false},
		{"either", "b\n", witnesses{}, either(shows("a"), shows("b")), true},
		{"neither", "c\n", witnesses{}, either(shows("a"), shows("b")), false},
		{"a tool runs", "❯ go\n✻ Pondering… (esc to interrupt)\n" + box, witnesses{}, runs, true},
		{"a tool runs, says the file", box, witnesses{status: "busy"}, runs, true},
		{"the API answers, no tool", box, witnesses{status: "busy", turns: 1}, runs, false},
		{"nothing runs", box, witnesses{status: "idle"}, runs, false},
		{"a status line says so", box + "  esc to interrupt\n", witnesses{}, idle, true},
		{"a draft", "❯\u00a0hi\n", witnesses{}, idle, false},
		{"resting with a draft", "❯\u00a0hi\n", witnesses{}, resting, true},
		{"broken text", "one two th\nree\n", witnesses{}, shows("two three"), true},
		{"other text", "one two th\n", witnesses{}, shows("two three"), false},
		{"any", "b\n", witnesses{}, showsAny("a", "b"), true},
		{"none of any", "c\n", witnesses{}, showsAny("a", "b"), false},
		{"both", "a\nb\n", witnesses{}, both(shows("a"), shows("b")), true},
		{"one of both", "a\n", witnesses{}, both(shows("a"), shows("b")), false},
		{"gone", "Yes\nNo\n", witnesses{}, gone, true},
		{"not gone", box, witnesses{}, gone, false},
		{"typed", "❯\u00a0hello\n", witnesses{}, typed("hel"), true},
		{"typed otherwise", "❯\u00a0hello\n", witnesses{}, typed("lo"), false},
	} {
		v := look(t, c.raw)
		c.w.process = "running"
		v.witnesses = c.w
		if got := c.cond.holds(v); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestPrompting(t *testing.T) {
	for _, c := range []struct {
		row  string
		x    int
		want bool
	}{
		{"bash-5.2#", 10, true}, {"bash-5.2$", 10, true}, {"bash-5.2#   what was left", 10, true},
		{"bash-5.2# ls", 12, false}, {"bash-5.2# ", 0, false}, {"# ", 2, false}, {"bash: ", 6, false},
	} {
		v := look(t, "above\n"+c.row+"\n")
		v.x, v.y = c.x, 1
		if got := prompting.holds(v); got != c.want {
			t.Errorf("%q at %d: %v", c.row, c.x, got)
		}
		v.y = 9
		if prompting.holds(v) {
			t.Errorf("%q: the cursor is below the screen", c.row)
		}
	}
}

func TestTitleTellsWork(t *testing.T) {
	for title, want := range map[string]bool{"✳ Claude Code": true, "⠂ Claude Code": false, "◐ Claude Code": false, "dev": true} {
		v := look(t, "❯\u00a0\n")
		v.title = title
		for _, v.status = range []string{"", "idle"} {
			if got := idle.holds(v); got != want {
				t.Errorf("%s, file %q: idle %v", title, v.status, got)
			}
		}
	}
}

func FuzzView(f *testing.F) {
	f.Add(facts + "\x1b[7mone\x1b[0m\n❯\u00a0two\n")
	f.Add(facts + "!\u00a0\n>\u00a0│\n$")
	f.Fuzz(func(t *testing.T, out string) {
		v, err := parseView(out)
		if err != nil {
			return
		}
		if text, ok := v.box(); text != "" && !ok {
			t.Errorf("%q in no box", text)
		}
		_ = idle.holds(v)
		_ = normal(v.raw)
	})
}
