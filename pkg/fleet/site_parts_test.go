package fleet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// lookWith runs a site of a host that says which processors it has, and tells which
// programs it called.
func (h *madeHost) lookWith(t *testing.T, processors string, workdirs ...string) (siteSeen, []string) {
	t.Helper()
	h.write(t, "online", processors)
	if err := os.WriteFile(h.log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSite(nil, workdirs...)
	text := strings.ReplaceAll(s.fragment(), "/sys/devices/system/cpu/online", h.home+"/online")
	seen := s.parse(h.runText(t, text))
	log, err := os.ReadFile(h.log)
	if err != nil {
		t.Fatal(err)
	}
	return seen, strings.Fields(string(log))
}

func count(words []string, word string) (n int) {
	for _, w := range words {
		if w == word {
			n++
		}
	}
	return n
}

// manyRepos makes repositories of which each is told apart, one with a subject that
// no pipe takes at once. It gives them with what they are to be told as.
func manyRepos(t *testing.T, h *madeHost, n int) (dirs []string, want map[string]string) {
	t.Helper()
	for _, name := range []string{"sh", "awk", "cat", "sleep"} {
		h.program(t, name, "exec "+realPath(t, name)+` "$@"`)
	}
	long := strings.Repeat("long ", 30000)
	want = map[string]string{}
	for i := range n {
		name, subject := fmt.Sprintf("a '%d", i), fmt.Sprintf("# cut %d", i)
		if i == 5 {
			subject = strings.TrimSpace(long)
		}
		dirs = append(dirs, "~/"+name)
		want["~/"+name] = fmt.Sprintf("main +0 -0 *%d %s", i%4, subject)
		h.write(t, "subject", subject)
		h.sh(t, fmt.Sprintf(`git init -q "%[1]s"; cd "%[1]s"; git commit -q --allow-empty -F ../subject; for n in $(seq %[2]d); do echo >"x$n"; done`, name, i%4))
	}
	return dirs, want
}

// TestSiteParts has repositories counted beside each other: as many at once as there
// are processors, and never a few in a part of their own. What they print is not mixed.
func TestSiteParts(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"dash", "bash", "bash --posix", "zsh --emulate sh", "busybox sh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			h := makeHost(t)
			h.shell = strings.Fields(shell)
			dirs, want := manyRepos(t, h, 17)
			for _, c := range []struct {
				processors string
				dirs       int
				parts      int
			}{
				{"0\n", 17, 1}, {"0-1\n", 17, 2}, {"0-3\n", 17, 4}, {"0-255\n", 17, 4}, {"0,2-3\n", 17, 4}, {"0-2\n", 17, 3},
				{"", 17, 1}, {"none\n", 17, 1}, {"0-99999999999999999999\n", 17, 1},
				{"0-3\n", 16, 4}, {"0-3\n", 15, 3}, {"0-3\n", 8, 2}, {"0-3\n", 7, 1}, {"0-3\n", 3, 1}, {"0-3\n", 2, 0},
			} {
				seen, called := h.lookWith(t, c.processors, dirs[:c.dirs]...)
				for _, dir := range dirs[:c.dirs] {
					if got := seen.git(dir); got != want[dir] {
						t.Errorf("%q, %d: %s: %.80q, want %.80q", c.processors, c.dirs, dir, got, want[dir])
					}
				}
				limits := c.parts
				if c.parts == 0 {
					limits = 2 * c.dirs
				}
				if strings.HasPrefix(shell, "busybox") {
					continue // it has programs of its own
				}
				if count(called, "awk") != c.parts || count(called, "git") != 2*c.dirs || count(called, "timeout") != limits {
					t.Errorf("%q, %d: called %s", c.processors, c.dirs, called)
				}
			}
		})
	}
}

// TestSitePartsSlow has a git that hangs in two of the parts: the others are told at once
// and those two without their count, whatever ends a git on that host, and none is
// left running.
func TestSitePartsSlow(t *testing.T) {
	t.Parallel()
	timeout, real := realPath(t, "timeout"), realPath(t, "git")
	for i, c := range []struct{ name, program string }{
		{"GNU's", "exec " + timeout + ` "$@"`},
		{"one that ends its child alone", "exec " + timeout + ` --foreground "$@"`},
		{"busybox's", "exec " + realPath(t, "busybox") + ` timeout "$@"`},
		{"an old one of busybox", `echo "timeout: can't execute '$1'" >&2; exit 127`},
		{"a host without", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := makeHost(t)
			dirs, want := manyRepos(t, h, 12)
			if c.program == "" {
				if err := os.Remove(filepath.Join(h.bin, "timeout")); err != nil {
					t.Fatal(err)
				}
			} else {
				h.program(t, "timeout", c.program)
			}
			hang := fmt.Sprintf("6%d.625", i)
			h.program(t, "git", `case "$PWD $*" in *none*) ;; *"'1 "*status* | *"'6 "*status*) exec `+realPath(t, "sleep")+" "+hang+` ;; esac; exec `+real+` "$@"`)
			for _, n := range []string{"1", "6"} {
				want["~/a '"+n] = "main +0 -0 *-1 # cut " + n
			}
			alone := strings.HasPrefix(c.name, "an old")
			for n := 7; alone && n < 12; n++ { // one after another: none is counted behind the second that hangs
				want[fmt.Sprintf("~/a '%d", n)] = fmt.Sprintf("main +0 -0 *-1 # cut %d", n)
			}
			began := time.Now()
			seen, called := h.lookWith(t, "0-3\n", dirs...)
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
			for _, dir := range dirs {
				if got := seen.git(dir); got != want[dir] {
					t.Errorf("%s: %.80q, want %.80q", dir, got, want[dir])
				}
			}
			if c.name != "busybox's" && alone != (count(called, "sh") == 0) {
				t.Errorf("called %s", called)
			}
			for {
				out, err := exec.Command("ps", "-A", "-o", "args").Output()
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(string(out), "sleep "+hang) {
					break
				}
				if time.Since(began) > 40*time.Second {
					t.Fatal("a git is left running")
				}
				<-time.After(50 * time.Millisecond)
			}
		})
	}
}

// TestSiteCount has lists of changes about as long as what the shell counts by itself.
func TestSiteCount(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"dash", "bash", "zsh --emulate sh", "busybox sh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			h := makeHost(t)
			h.shell = strings.Fields(shell)
			h.sh(t, makeRepo+`for n in 1 2 3 4 5 6 7 8; do echo >"$(printf "%0100d" $n)"; done`)
			called := map[bool]int{}
			for n := 1; n <= 20; n++ {
				h.sh(t, fmt.Sprintf(`cd app; rm -f x*; echo >"$(printf 'x%%0%dd' 1)"`, n))
				seen, all := h.look(t, nil, "~/app")
				if got := seen.git("~/app"); got != "main +0 -0 *9 one" {
					t.Errorf("a name of %d: %q", n+1, got)
				}
				called[strings.Contains(all, "sed")]++
			}
			if strings.HasPrefix(shell, "busybox") {
				return // it has a sed of its own
			}
			if called[true] < 5 || called[false] < 2 {
				t.Errorf("sed was called by %d, not by %d", called[true], called[false])
			}
			// A host without sed tells no count that is too low.
			if err := os.Remove(filepath.Join(h.bin, "sed")); err != nil {
				t.Fatal(err)
			}
			if seen, _ := h.look(t, nil, "~/app"); seen.git("~/app") != "main +0 -0 *-1 one" {
				t.Errorf("without sed: %q", seen.git("~/app"))
			}
		})
	}
}
