package fleet

import (
	"os"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/pkg/tmux"
)

// TestUnitExample holds the file that users read to the one that is installed.
func TestUnitExample(t *testing.T) {
	const path = "../../examples/claude-tmux.service"
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := Unit(Host{Session: DefaultSession, Command: DefaultCommand}); string(got) != want {
		t.Errorf("%s is not what init installs; write this there:\n%s", path, want)
	}
}

// environment reads the Environment lines of a unit as systemd does: lines that
// end in a backslash go on, quotes and backslashes are undone, then %%.
func environment(t *testing.T, unit string) map[string]string {
	t.Helper()
	env := map[string]string{}
	for line := range strings.Lines(strings.ReplaceAll(unit, "\\\n", " ")) {
		text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), `Environment="`)
		if !ok {
			continue
		}
		var b strings.Builder
		for i := 0; ; i++ {
			if i == len(text) {
				t.Fatalf("no quote ends %s", line)
			}
			if text[i] == '"' {
				if i != len(text)-1 {
					t.Fatalf("text behind the quotes of %s", line)
				}
				break
			}
			if text[i] == '\\' {
				if i++; text[i] == 'n' {
					b.WriteByte('\n')
					continue
				}
			}
			b.WriteByte(text[i])
		}
		name, value, _ := strings.Cut(b.String(), "=")
		if strings.Contains(strings.ReplaceAll(value, "%%", ""), "%") {
			t.Errorf("%s has a specifier of systemd's", name)
		}
		env[name] = strings.ReplaceAll(value, "%%", "%")
	}
	return env
}

// TestUnit holds that systemd gives a session's name and its program to the unit's
// script as up would, but for blanks where lines begin, whatever the command holds.
func TestUnit(t *testing.T) {
	for _, command := range []string{
		DefaultCommand, "true", `FOO="a b" claude --x='y z'`, `claude "50%" %h %%`, `a\b \\ \n "\""`, "claude; # remark", "claude $HOME ${X:-y} $$", "fünf 日本", "# nothing", "; x",
	} {
		h := Host{Session: "work_1", Command: command}
		env := environment(t, Unit(h))
		words := tmux.Launch{Command: command, Unset: inherited, EnvFile: EnvFile}.Words()
		for name, want := range map[string]string{"FLEET_SESSION": "work_1", "FLEET_LAUNCHER": words[2], "FLEET_PROGRAM": words[4]} {
			got := strings.ReplaceAll(env[name], "\n   ", "\n")
			if strings.TrimPrefix(got, " ") != strings.TrimSuffix(want, "\n") {
				t.Errorf("%q: %s is %q, want %q", command, name, got, want)
			}
		}
		for line := range strings.Lines(Unit(h)) { // within a joined line it would be lost
			if prev, _, ok := strings.Cut(Unit(h), line); ok && strings.HasSuffix(prev, "\\\n") && strings.ContainsAny(strings.TrimSpace(line)[:1], "#;") {
				t.Errorf("%q: systemd takes %q for a remark", command, line)
			}
		}
	}
}

func TestPlanInit(t *testing.T) {
	h := Host{Name: "alpha", Workdir: "~/app", Session: "claude", Command: "claude"}
	good := initFound{workdir: "/home/u/app", file: "/home/u/app\n", hasFile: true, fileKind: "file", unit: Unit(h), hasUnit: true, systemd: true, enabled: true, linger: "yes"}
	with := func(change func(f *initFound)) initFound { f := good; change(&f); return f }
	for name, tt := range map[string]struct {
		found   initFound
		unit    bool
		changes string
		notes   int
		says    string // in the error or the refusal
	}{
		"all is as it should be":    {good, true, "", 0, ""},
		"no file":                   {with(func(f *initFound) { f.hasFile, f.file = false, "" }), true, "write", 0, ""},
		"another directory":         {with(func(f *initFound) { f.file = "/home/u/other\n" }), true, "write", 0, ""},
		"no line end":               {with(func(f *initFound) { f.file = "/home/u/app" }), true, "write", 0, ""},
		"no unit":                   {with(func(f *initFound) { f.hasUnit, f.unit, f.enabled = false, "", false }), true, "install enable", 0, ""},
		"no unit asked for":         {with(func(f *initFound) { f.hasUnit, f.unit, f.systemd, f.linger = false, "", false, "no" }), false, "", 0, ""},
		"an older unit":             {with(func(f *initFound) { f.unit = unitMark + "older\n" }), true, "install enable", 0, ""},
		"somebody's own unit":       {with(func(f *initFound) { f.unit = "[Service]\n" }), true, "install enable", 1, ""},
		"installed and not enabled": {with(func(f *initFound) { f.enabled = false }), true, "enable", 0, ""},
		"lingering off":             {with(func(f *initFound) { f.linger = "no" }), true, "", 1, ""},
		"lingering not known":       {with(func(f *initFound) { f.linger = "" }), true, "", 1, ""},
		"no systemd":                {with(func(f *initFound) { f.systemd, f.systemdReason = false, "Failed\x1b to connect" }), true, "", 0, "no systemd answers"},
		"no systemd, and no file":   {with(func(f *initFound) { f.systemd, f.hasFile, f.file = false, false, "" }), true, "write", 0, "no systemd answers"},
		"no workdir":                {with(func(f *initFound) { f.workdir = "" }), true, "", 0, "the workdir ~/app does not exist there"},
		"a line feed in its path":   {with(func(f *initFound) { f.workdir = "/home/u\nv/app" }), true, "", 0, "control characters"},
		"a directory of that name":  {with(func(f *initFound) { f.hasFile, f.fileKind = false, "dir" }), true, "", 0, "is a directory"},
	} {
		p := planInit(h, tt.found, tt.unit)
		var verbs []string
		for _, c := range p.changes {
			verb, _, _ := strings.Cut(c.What, " ")
			verbs = append(verbs, verb)
			if strings.HasPrefix(c.Did(), " ") || verb != "enable" && !strings.HasPrefix(c.Diff, "--- ") {
				t.Errorf("%s: %+v", name, c)
			}
		}
		err := p.err
		if err == nil {
			err = p.refused
		}
		if strings.Join(verbs, " ") != tt.changes || len(p.notes) != tt.notes || len(p.steps) != len(p.changes) {
			t.Errorf("%s: changes %q, notes %q, %d steps", name, verbs, p.notes, len(p.steps))
		}
		if (err != nil) != (tt.says != "") || err != nil && (!strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "\x1b")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
