package tmux

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// FuzzQueryParse holds that nothing makes the reader panic, and that it gives
// panes of the sessions asked for only. NONCE stands for the query's nonce.
func FuzzQueryParse(f *testing.F) {
	pane := "NONCE\tpane\twork\t%0\t1\t0\t0\t0\t0\t0\t80\t24\t0\t1700000000\t/dev/pts/0\nNONCE\tabout\t%0\t1700000000\t\tx\t\tsh\n"
	for _, seed := range []string{
		"", "NONCE", "NONCE\n", "NONCE \n", "NONCE\tversion\ttmux 3.3a\n" + pane + "NONCE\tpath\t%0\t/a\nb\nNONCE\ttitle\t%0\tx\ty\nNONCE screen 0\nrow\n\nNONCE end 0\n",
		"NONCE\tmissing\n", "NONCE server 3.3a\n" + pane + "NONCE done\nNONCE screen %0 1 2 0 0\nrow\nNONCE end\nNONCE screen     \nlost\nNONCE end\n", "NONCE server \n" + pane, "NONCE\terror\tno server running on /x\n", "NONCE\terror\n", pane + "NONCE screen 0\nno end", "NONCE screen 9\nx\nNONCE end 9\n", "NONCE end 0\n",
		pane + pane, "NONCE\tpane\n", "NONCE\tpane\twork\n", "NONCE\tpath\t%0\n", strings.Replace(pane, "\t1\t", "\tx\t", 1), "NONCE\tpath\t%7\t/a\nmore\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, out string) {
		q := NewQuery("work")
		snap, err := q.Parse([]byte(strings.ReplaceAll(out, "NONCE", q.nonce)))
		seen := map[string]bool{}
		for _, p := range snap.Panes {
			if p.Session != "work" || seen[p.ID] {
				t.Errorf("%+v, %v", snap, err)
			}
			seen[p.ID] = true
		}
	})
}

func TestQueryParse(t *testing.T) {
	q := NewQuery("work")
	n := q.nonce
	pane := func(session, id, pid string) string {
		return n + "\tpane\t" + session + "\t" + id + "\t" + pid + "\t1\t0\t1\t3\t4\t80\t24\t2\t1700000000\t/dev/pts/0\n" +
			n + "\tabout\t" + id + "\t1700000000\t137\ta note\t12-34\tmy\x20sh\n" +
			n + "\tclient\t" + id + "\t1700000000\t1700000000\n" +
			n + "\tclient\t" + id + "\t1700000000\t1700000009\n" +
			n + "\tclient\t" + id + "\t1700000000\t1700000007\n"
	}
	for name, tt := range map[string]struct {
		out   string
		panes int
		bad   string
	}{
		"one":                  {pane("work", "%0", "1"), 1, ""},
		"spoilt options":       {pane("work", "%0", "1") + n + "\tabout\t%1\tzz\t\t\t\t\n", 1, ""},
		"with a stranger":      {pane("x", "%1", "1") + pane("work", "%0", "1"), 1, ""},
		"stranger is spoilt":   {pane("x\ty", "%1", "no") + pane("work", "%0", "1"), 1, ""},
		"wanted one is spoilt": {pane("work", "%0", "no"), 0, "pane_pid"},
		"field too many":       {pane("work", "%0\t", "1"), 0, "fields"},
		"banner around it":     {"motd\n" + n + "x\n" + pane("work", "%0", "1") + "bye\n", 1, ""},
		"other nonce":          {strings.ReplaceAll(pane("work", "%0", "1"), n, "fleet0123456789abcdef"), 0, ""},
		"not at line start":    {" " + pane("work", "%0", "1"), 0, ""},
	} {
		snap, err := q.Parse([]byte(tt.out))
		if len(snap.Panes) != tt.panes || (err == nil) != (tt.bad == "") || err != nil && !strings.Contains(err.Error(), tt.bad) {
			t.Errorf("%s: %+v, %v", name, snap, err)
		}
		if tt.panes == 1 {
			if p := snap.Panes[0]; !p.Dead || !p.Alternate || p.InMode || p.CursorX != 3 || p.CursorY != 4 || p.Attached != 2 || !p.Ended || p.ExitCode != 137 || p.Command != "my sh" || p.Note != "a note" || p.Sender != "12-34" || p.Touched.Unix() != 1700000009 {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
}

// TestDescribe holds that what others may set spoils nothing but itself.
func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		about string
		want  Pane
	}{
		{"5\t7\tn\t12-34\tsh", Pane{Launched: time.Unix(5, 0), Ended: true, ExitCode: 7, Note: "n", Sender: "12-34", Command: "sh"}},
		{"\t\t\t\tsh", Pane{Command: "sh"}},
		{"zz\tzz\t\t\tsh", Pane{Command: "sh"}},
		{"-1\t0\t\t\ta\tb", Pane{Ended: true, Command: "a\tb"}},
		{"5\t7", Pane{}},
	} {
		var p Pane
		p.describe(strings.Split(c.about, "\t"))
		if fmt.Sprintf("%+v", p) != fmt.Sprintf("%+v", c.want) {
			t.Errorf("%q: %+v, want %+v", c.about, p, c.want)
		}
	}
}

func TestDirWord(t *testing.T) {
	t.Setenv("HOME", "/home/o'brien $x")
	for dir, want := range map[string]string{
		"~": "/home/o'brien $x", "~/": "/home/o'brien $x/", "~/a b": "/home/o'brien $x/a b", "~root": "~root", "~root/x": "~root/x", "a/~": "a/~",
		"/srv/app": "/srv/app", "$HOME": "$HOME", "$(touch x)": "$(touch x)", "`x`": "`x`", `it's "q" \`: `it's "q" \`, "-": "-", "": "", "new\nline\n": "new\nline\n", "*": "*",
		"~/$(x)'": "/home/o'brien $x/$(x)'", "/fünf/\x81\xff": "/fünf/\x81\xff", "~~": "~~",
	} {
		if got := wordOf(t, DirWord(dir)); got != want {
			t.Errorf("%q is %q, want %q", dir, got, want)
		}
	}
}

// wordOf is what sh makes of a word.
func wordOf(t *testing.T, word string) string {
	t.Helper()
	out, err := exec.Command("/bin/sh", "-c", "printf '%s|' "+word).Output()
	if err != nil {
		t.Fatalf("%q: %v", word, err)
	}
	return strings.TrimSuffix(string(out), "|")
}

// FuzzDirWord holds that sh makes of the word what the directory is called.
func FuzzDirWord(f *testing.F) {
	for _, seed := range []string{"~", "~/x", "/a b", "'", `\`, "$(x)", "\n", "~/'", "é\x81"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, dir string) {
		if strings.ContainsRune(dir, 0) {
			return // no script and no path can hold it
		}
		t.Setenv("HOME", "/h")
		want := dir
		if dir == "~" || strings.HasPrefix(dir, "~/") {
			want = "/h" + dir[1:]
		}
		if got := wordOf(t, DirWord(dir)); got != want {
			t.Errorf("%q is %q, want %q", dir, got, want)
		}
	})
}

// TestAttachScript runs the script with a stand-in for tmux that prints its
// arguments: what matters is which command is given, and that no name gets out
// of its quotes.
func TestAttachScript(t *testing.T) {
	stand := `tmux() { case $* in *has-session*) [ "$4" != "=gone" ] ;; *socket_path*) echo "/tmp/o'x" ;; esac; }
exec() { printf '%s|' "TMUX=${TMUX-}" "$@"; exit 0; }
`
	for name, tt := range map[string]struct{ session, outer, want string }{
		"outside":      {"work", "", "TMUX=|tmux|-u|attach-session|-t|=work|"},
		"same server":  {"work", "/tmp/o'x,123,0", "TMUX=/tmp/o'x,123,0|tmux|-u|switch-client|-t|=work|"},
		"other server": {"work", "/tmp/other,123,0", "TMUX=|tmux|-u|attach-session|-t|=work|"},
		"no socket":    {"work", "nonsense", "TMUX=|tmux|-u|attach-session|-t|=work|"},
		"hostile":      {"$(echo x)'\"; echo y", "", "TMUX=|tmux|-u|attach-session|-t|=$(echo x)'\"; echo y|"},
		"gone":         {"gone", "", ""},
	} {
		// exec is a special builtin, which a function can't stand in for in every sh.
		script := strings.ReplaceAll(stand+AttachScript(tt.session, tt.outer), "exec", "run")
		out, err := exec.Command("/bin/sh", "-c", script).Output()
		if string(out) != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}

}
