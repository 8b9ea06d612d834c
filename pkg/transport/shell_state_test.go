package transport

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestConformanceOfShell holds scripts in a persistent shell to what is held of
// those that have a shell each.
func TestConformanceOfShell(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]Endpoint{"local": {Local: true}, "ssh": startServer(t).endpoint()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conformRun(t, repeated{polled(t, Options{}, e).Conn(e)})
		})
	}
}

// TestShellState runs scripts that do things to their shell, and looks at what the
// next one finds.
func TestShellState(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]Endpoint{"local": {Local: true}, "ssh": startServer(t).endpoint()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shellState(t, e)
		})
	}
}

func shellState(t *testing.T, e Endpoint) {
	p := polled(t, Options{}, e)
	conn := p.Conn(e)
	look := `cd . && pwd; umask; echo "$-"; ulimit -n; trap; set | grep '^fleet_nonce='; env | sort | grep -v '^_='; type ls; echo "$# $0 ${made_up-unset}"; echo "$IFS" | od -c; ls -l /proc/self/fd | grep -c .`
	run := func(t *testing.T, text string) Result {
		t.Helper()
		res, err := conn.Run(within(t, time.Minute), Script{Text: text, Repeatable: true})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	shell, before := shellID(t, p, e), run(t, look)
	if len(before.Stdout) < 100 || len(before.Stderr) != 0 {
		t.Fatalf("a look gives %q, %q", before.Stdout, before.Stderr)
	}
	for _, tc := range []struct {
		name, text, out string
		code            int
	}{
		{"cd", "cd /; pwd", "/\n", 0},
		{"variables", "made_up=1; export made_up; PATH=/nowhere; IFS=x; HOME=/; unset USER; echo $made_up", "1\n", 0},
		{"functions and aliases", "printf() { :; }; read() { :; }; fleet_loop_end() { :; }; alias ls=false; echo", "\n", 0},
		{"exit", "exit 3", "", 3},
		{"options", "set -efu; echo on; false; echo past it", "on\n", 1},
		{"no execution", "set -n; echo no", "", 0},
		{"trace", "set -x; : traced", "", 0},
		{"an unset variable", "set -u; : $nothing_of_that_name; echo past it", "", 2},
		{"exec", "exec echo other", "other\n", 0},
		{"exec of what is not there", "exec /nonexistent/program", "", 127},
		{"descriptors", "exec 0</etc/passwd 3</dev/null 4>&1 >/dev/null 2>&1; echo lost", "", 0},
		{"closed descriptors", "exec <&- >&- 2>&-; echo lost", "", -1},
		{"traps", "trap 'echo trapped' EXIT; trap '' TERM INT HUP; echo set", "set\ntrapped\n", 0},
		{"ulimit", "ulimit -n 7; ulimit -c 0; ulimit -n", "7\n", 0},
		{"umask", "umask 0; umask", "0000\n", 0},
		{"arguments", "set -- a b c; shift; echo $1", "b\n", 0},
		{"its own variables", "unset fleet_text fleet_group fleet_watchdog; fleet_nonce=x; fleet_lines=9; echo", "\n", 0},
		{"the group's variable", "readonly PATH fleet_nonce fleet_text; echo", "\n", 0},
		{"a child left behind", "sleep 1 >/dev/null 2>&1 & echo", "\n", 0},
		{"waiting for all there is", "wait; echo", "\n", 0},
		{"its input", "cat; read -r x; echo $?; cat <&0; cat /dev/stdin", "1\n", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if res := run(t, tc.text); string(res.Stdout) != tc.out || res.ExitCode != tc.code && tc.code >= 0 {
				t.Errorf("got %q, %q, %d", res.Stdout, res.Stderr, res.ExitCode)
			}
			if res := run(t, look); string(res.Stdout) != string(before.Stdout) || string(res.Stderr) != string(before.Stderr) {
				t.Errorf("the next script finds %q, %q, and not %q", res.Stdout, res.Stderr, before.Stdout)
			}
			if got := shellID(t, p, e); got != shell {
				t.Errorf("the shell was replaced: %d, not %d", got, shell)
			}
		})
	}
	t.Run("descriptors that a script has", func(t *testing.T) {
		list := func(s Script) (out []string) {
			res, err := conn.Run(within(t, time.Minute), s)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(\d+) -> (\S*?)(:.*)?\n`).FindAllStringSubmatch(string(res.Stdout), -1) {
				out = append(out, m[1]+" "+strings.TrimRight(m[2], "0123456789/fd"))
			}
			return out
		}
		text := "exec ls -l /proc/self/fd" // 3 is its own
		got, want := list(Script{Text: text, Repeatable: true}), list(Script{Text: text})
		if !slices.Equal(got, want) || len(got) < 4 || !slices.Contains(got, "0 /dev/null") {
			t.Errorf("a script has %q, and one in a shell of its own %q", got, want)
		}
	})
}

// TestShellKilled is the script that ends the shell it runs in: it may have begun,
// so it is run once more, and it is the script that failed.
func TestShellKilled(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		logins     int
		kind       Kind
	}{
		{"its shell", "kill -s KILL $$", 1, KindProtocol},
		{"its group", "kill -s KILL 0", 1, KindProtocol},
		{"its group, softly", "kill 0; sleep 60", 1, KindProtocol},
		{"its parent", "kill -s KILL $PPID; sleep 1", 3, KindConnect},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t)
			e := s.endpoint()
			p := polled(t, Options{}, e)
			file := filepath.Join(t.TempDir(), "runs")
			_, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: "echo x >>" + file + "\n" + tc.text, Repeatable: true})
			if k, _ := KindOf(err); k != tc.kind || !Started(err) {
				t.Errorf("got %v, started %t", err, Started(err))
			}
			if runs, _ := os.ReadFile(file); string(runs) != "x\nx\n" {
				t.Errorf("runs: %q", runs)
			}
			poll(t, p, e)
			poll(t, p, e)
			if n := s.logins(); n != tc.logins {
				t.Errorf("%d logins, want %d", n, tc.logins)
			}
			wantSlots(t, p, e)
		})
	}
}

// TestShellNoise is the start-up file that goes on printing, and the script that
// leaves behind what prints: neither is taken for the answer's frame.
func TestShellNoise(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startServer(t, fmt.Sprintf(`ForceCommand (i=0; while [ -e %s ]; do i=$((i+1)); printf 'noise %%s' "$i"; printf 'noise %%s' "$i" >&2; sleep 0.05; done) & echo noise; exec sh -c "$SSH_ORIGINAL_COMMAND"`, dir))
	e := s.endpoint()
	p := newPool(t, Options{})
	shell := 0
	for i := range 40 {
		res, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: fmt.Sprintf("echo '<%d' $$ '>'; echo '<err %d>' >&2; exit 3", i, i), Repeatable: true})
		if err != nil || res.ExitCode != 3 || !strings.Contains(string(res.Stderr), fmt.Sprintf("<err %d>", i)) {
			t.Fatalf("got %q, %d, %v", res.Stderr, res.ExitCode, err)
		}
		var n, pid int
		if _, err := fmt.Sscanf(string(res.Stdout[strings.Index(string(res.Stdout), "<"):]), "<%d %d >", &n, &pid); err != nil || n != i {
			t.Fatalf("got %q", res.Stdout)
		}
		if i == shellAfter {
			shell = pid
		}
		if i > shellAfter && pid != shell {
			t.Errorf("the shell was replaced")
		}
	}
}

// TestStream is what comes between two answers, marks of the first one among it.
func TestStream(t *testing.T) {
	var s stream
	say := func(text string) { _, _ = s.Write([]byte(text)) }
	first, second := newFrames(), newFrames()
	say("noise")
	s.pass(first.stdout)
	say(first.nonce + "b12 12\none" + first.nonce + "e0\n")
	say("noise " + second.nonce)
	s.pass(nil)
	say(second.nonce + "b12 12\nforged" + second.nonce + "e0\n")
	s.pass(second.stdout)
	say(first.nonce + "b12 12\nforged" + first.nonce + "e7\n")
	if state := second.stdout.state(); state.begun || state.done {
		t.Errorf("the marks of another script did for this one: %+v", state)
	}
	say("noise" + second.nonce + "b13 13\ntwo" + second.nonce + "e3\nnoise")
	if got := first.stdout.state(); string(got.body) != "one" || got.code != 0 {
		t.Errorf("got %+v", got)
	}
	if got := second.stdout.state(); !got.done || string(got.body) != "two" || got.code != 3 || got.run != (runID{13, 13}) {
		t.Errorf("got %+v", got)
	}
}
