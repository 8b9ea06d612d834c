package transcript

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// proc is a row of a made-up /proc.
type proc struct {
	pid, parent, group, front int
	state, name               string
}

// below is a machine on which a pane's processes are looked at.
type below struct {
	procs []proc
	files map[int]string
	panes string // those that are due stand before a slash
	lone  string
	tails string
	line  string // of the first session
}

// belows are machines with processes of all kinds.
func belows() map[string]below {
	const pane, client = 700, 701
	json := func(pid int, id string) string {
		return fmt.Sprintf(`{"pid":%d,"sessionId":"%s","kind":"interactive","procStart":"7%d","status":"idle"}`, pid, id, pid)
	}
	shell := proc{pane, 5, 700, 700, "S", "sh"}
	child := proc{client, pane, 700, 700, "S", "claude"}
	with := func(p proc, change func(*proc)) proc { change(&p); return p }
	usual := map[int]string{client: json(client, "0a-1")}
	return map[string]below{
		"a client below a shell":    {[]proc{shell, child}, usual, "700", "", "0a-1", "701:claude 700:sh"},
		"the pane is the client":    {[]proc{with(shell, func(p *proc) { p.name = "claude" })}, map[int]string{pane: json(pane, "0a-1")}, "700", "", "0a-1", "700:claude"},
		"deep below":                {[]proc{shell, {702, 700, 702, 702, "S", "npx run"}, {703, 702, 702, 702, "S", "node"}, {704, 703, 700, 700, "R", "node"}}, map[int]string{704: json(704, "0a-1")}, "700", "", "0a-1", "704:node 703:node 702:npx run 700:sh"},
		"no file":                   {[]proc{shell, child}, nil, "700", "700", "", ""},
		"no panes":                  {[]proc{shell, child}, usual, "", "", "", ""},
		"another's":                 {[]proc{shell, child, {710, 5, 710, 710, "S", "sh"}}, usual, "710", "710", "", ""},
		"two panes, one has it":     {[]proc{shell, child, {710, 5, 710, 710, "S", "sh"}}, usual, "700 710", "710", "0a-1", "701:claude 700:sh"},
		"only one of two is due":    {[]proc{shell, child, {710, 5, 710, 710, "S", "sh"}}, usual, "700/710", "", "0a-1", "701:claude 700:sh"},
		"in a pane that is not due": {[]proc{shell, child, {710, 5, 710, 710, "S", "sh"}}, usual, "710/700", "710", "0a-1", "701:claude 700:sh"},
		"stopped":                   {[]proc{shell, with(child, func(p *proc) { p.state = "T" })}, usual, "700", "700", "0a-1", "701:claude 700:sh"},
		"a zombie":                  {[]proc{shell, with(child, func(p *proc) { p.state = "Z" })}, usual, "700", "700", "0a-1", "701:claude 700:sh"},
		"in the background":         {[]proc{shell, with(child, func(p *proc) { p.group = 701 })}, usual, "700", "700", "0a-1", "701:claude 700:sh"},
		"behind another terminal":   {[]proc{shell, with(child, func(p *proc) { p.group, p.front = 701, 701 })}, usual, "700", "700", "0a-1", "701:claude 700:sh"},
		"without a terminal":        {[]proc{with(shell, func(p *proc) { p.front = -1 }), with(child, func(p *proc) { p.front = -1 })}, usual, "700", "700", "0a-1", "701:claude 700:sh"},
		"its process id used again": {[]proc{shell, child}, map[int]string{client: strings.Replace(json(client, "0a-1"), `"7701"`, `"1"`, 1)}, "700", "700", "", ""},
		"no start time known":       {[]proc{shell, child}, map[int]string{client: strings.Replace(json(client, "0a-1"), `"procStart"`, `"x"`, 1)}, "700", "", "0a-1", "701:claude 700:sh"},
		"ended":                     {[]proc{shell}, usual, "700", "700", "", ""},
		"half written":              {[]proc{shell, child}, map[int]string{client: json(client, "0a-1")[:40]}, "700", "700", "", ""},
		"empty":                     {[]proc{shell, child}, map[int]string{client: ""}, "700", "700", "", ""},
		"of another process":        {[]proc{shell, child}, map[int]string{client: json(999, "0a-1")}, "700", "700", "", ""},
		"in the background by kind": {[]proc{shell, child}, map[int]string{client: strings.Replace(json(client, "0a-1"), "interactive", "background", 1)}, "700", "700", "0a-1", "701:claude 700:sh"},
		"of no kind":                {[]proc{shell, child}, map[int]string{client: strings.Replace(json(client, "0a-1"), `"kind":"interactive",`, "", 1)}, "700", "", "0a-1", "701:claude 700:sh"},
		"a parent that is gone":     {[]proc{shell, with(child, func(p *proc) { p.parent = 799 })}, usual, "700", "700", "", ""},
		"parents in a loop":         {[]proc{shell, with(child, func(p *proc) { p.parent = 702 }), {702, 701, 702, 702, "S", "sh"}}, usual, "700", "700", "", ""},
		"a client within a client":  {[]proc{shell, child, {705, client, 705, -1, "S", "claude"}}, map[int]string{client: json(client, "0a-1"), 705: json(705, "0a-2")}, "700", "", "0a-1 0a-2", "701:claude 700:sh"},
		"names with marks":          {[]proc{with(shell, func(p *proc) { p.name = "a) S 1 (b)" }), with(child, func(p *proc) { p.name = "(c) R 1 1 1 1" })}, usual, "700", "", "0a-1", "701:(c) R 1 1 1 1 700:a) S 1 (b)"},
		"names with line feeds":     {[]proc{with(shell, func(p *proc) { p.name = "\nx) S 1\n" }), with(child, func(p *proc) { p.name = "x) T 1 1 1\n9 (" })}, usual, "700", "", "0a-1", "701:x) T 1 1 1 9 ( 700: x) S 1 "},
		"commas and blanks":         {[]proc{with(shell, func(p *proc) { p.name = "a, b,," })}, map[int]string{pane: strings.ReplaceAll(strings.ReplaceAll(json(pane, "0a-1"), ",", " ,\n "), ":", " : ")}, "700", "", "0a-1", "700:a, b,,"},
	}
}

// account puts the machine up: its processes are in the folder root.
func (b below) account(t *testing.T, kit string) (a *account, root string) {
	t.Helper()
	a = newAccount(t)
	a.uses(kit)
	root = t.TempDir()
	b.put(a, root)
	return a, root
}

func (b below) put(a *account, root string) {
	a.t.Helper()
	put := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			a.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	put("self/stat", "")
	for _, p := range append(b.procs, proc{5, 1, 5, -1, "S", "tmux: server"}) {
		put(fmt.Sprintf("%d/stat", p.pid), fmt.Sprintf("%d (%s) %s %d %d %d 34816 %d 4194304 1 2 3 4 5 6 7 8 20 0 1 0 7%d 1 2 3\n", p.pid, p.name, p.state, p.parent, p.group, p.pid, p.front, p.pid))
	}
	for pid, text := range b.files {
		a.write(fmt.Sprintf("sessions/%d.json", pid), text)
	}
	for _, id := range []string{"0a-1", "0a-2"} {
		a.write("projects/-a/"+id+".jsonl", prompt("1", "/a", id))
	}
}

// look runs a query below the panes.
func (b below) look(a *account, root string, q Query) (out []byte, lone string) {
	due, more, _ := strings.Cut(b.panes, "/")
	script := fmt.Sprintf("p=' %s' d=' %s'\n", strings.TrimSpace(due+" "+more), due) + strings.ReplaceAll(q.Fragment(), "/proc/", root+"/") + `printf '\nLONE%s' "$` + LonePIDs + `"`
	text, lone, _ := strings.Cut(string(a.run(script)), "\nLONE")
	return []byte(text), strings.TrimSpace(lone)
}

// TestQueryUnder looks below panes, with processes of all kinds in a made-up /proc.
func TestQueryUnder(t *testing.T) {
	for name, tt := range belows() {
		t.Run(name, func(t *testing.T) {
			some := []string{"dash/awk", "dash/false"}
			switch name {
			case "a client below a shell", "half written", "names with marks", "names with line feeds", "commas and blanks":
				some = kits(t) // what is hard to read, by all that may have to
			}
			for _, kit := range some {
				a, root := tt.account(t, kit)
				due, _, _ := strings.Cut(tt.panes, "/")
				q := NewQuery().Under("p", "d")
				out, lone := tt.look(a, root, q)
				wantLone, wantTails, wantLine := tt.lone, tt.tails, tt.line
				if strings.Contains(kit, "/false") { // without awk nothing is known, and all is read that is alive
					wantLone, wantLine = due, ""
				}
				if lone != wantLone {
					t.Errorf("%s: alone are %q, want %q", kit, lone, wantLone)
				}
				var tails, line []string
				for i, s := range q.Parse(out) {
					if len(s.Tail) > 0 {
						tails = append(tails, s.texts())
					}
					for _, p := range s.Line {
						if i == 0 {
							line = append(line, fmt.Sprintf("%d:%s", p.PID, p.Name))
						}
					}
				}
				if got := strings.Join(tails, " "); got != wantTails && !strings.Contains(kit, "/false") {
					t.Errorf("%s: tails %q, want %q", kit, got, wantTails)
				}
				if got := strings.Join(line, " "); got != wantLine {
					t.Errorf("%s: %q, want %q", kit, got, wantLine)
				}
			}
		})
	}
}

// TestQueryAgain looks at each machine with what a look at another has told, and with
// what one at itself has, and finds what a look finds that knows nothing.
func TestQueryAgain(t *testing.T) {
	all := belows()
	quick := 0
	for _, kit := range []string{"dash/awk", "busybox sh/busybox awk", "bash/awk"} {
		if !installed(kit) {
			continue
		}
		for before := range all {
			for after := range all {
				usual := before == "a client below a shell" || before == "only one of two is due" || before == "the pane is the client"
				if before != after && !usual || before != after && kit != "dash/awk" {
					continue
				}
				a, root := all[before].account(t, kit)
				q := NewQuery().Under("p", "d")
				out, _ := all[before].look(a, root, q)
				first := q.Parse(out)
				for i := range first {
					if k, ok := first[i].Known(); ok && kit == "bash/awk" { // as one who has it written down
						first[i], _ = k.Session()
					}
				}
				for _, name := range []string{root, a.path("sessions")} {
					if err := os.RemoveAll(name); err != nil {
						t.Fatal(err)
					}
				}
				all[after].put(a, root)
				plain := NewQuery().Under("p", "d")
				outPlain, lonePlain := all[after].look(a, root, plain)
				for _, inPlace := range []bool{false, true} {
					known := NewQuery().Under("p", "d").Knowing(first)
					if inPlace {
						known = known.InPlace()
					}
					outKnown, loneKnown := all[after].look(a, root, known)
					if bytes.Contains(outKnown, []byte(known.nonce+" session")) && !bytes.Contains(outKnown, []byte(known.nonce+" asked")) {
						quick++
					} else if before == after && usual {
						t.Errorf("%s, %s: the shell did not do", kit, before)
					}
					if want, got := plain.Parse(outPlain), known.Parse(outKnown); !reflect.DeepEqual(want, got) || lonePlain != loneKnown {
						t.Errorf("%s, from %q to %q: with what is known\n%+v, alone %q\nwithout\n%+v, alone %q", kit, before, after, got, loneKnown, want, lonePlain)
					}
					if want, got := plain.Processes(outPlain), known.Processes(outKnown); !reflect.DeepEqual(want, got) {
						t.Errorf("%s, from %q to %q: %+v, want %+v", kit, before, after, got, want)
					}
				}
			}
		}
	}
	if quick < 30 {
		t.Errorf("the shell did %d of them", quick)
	}
}

// TestQueryInPlace looks for a conversation where it was, by the shell alone and by awk.
func TestQueryInPlace(t *testing.T) {
	for _, name := range []string{"a client below a shell", "a client within a client"} {
		b := belows()[name]
		a, root := b.account(t, "")
		q := NewQuery().Under("p", "d")
		out, _ := b.look(a, root, q)
		first := q.Parse(out)
		if len(first) == 0 || first[0].texts() != "0a-1" {
			t.Fatalf("%s: %+v", name, first)
		}
		a.write("projects/-z/0a-1.jsonl", prompt("1", "/z", "newer"))
		for _, c := range []struct {
			q    Query
			want string
		}{
			{NewQuery().Under("p", "d").Knowing(first), "newer"},
			{NewQuery().Under("p", "d").Knowing(first).InPlace(), "0a-1"},
		} {
			out, _ := b.look(a, root, c.q)
			if got := c.q.Parse(out); got[0].texts() != c.want {
				t.Errorf("%s: %q, want %q", name, got[0].texts(), c.want)
			}
		}
	}
}
