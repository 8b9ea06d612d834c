package relay

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tellBuild prints the build of this process's program as it was, that of the file as
// it is after a line of input, and whether a server would take it for replaced.
func tellBuild() {
	st, err := os.Stat(executable())
	if err != nil {
		panic(err)
	}
	c, s := NewClient("devel", nil), &Server{file: st}
	_, _ = os.Stdout.WriteString("up\n")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	mine, _ := c.hello()
	now, _ := build("devel")
	replaced := "kept"
	if s.replaced() {
		replaced = "replaced"
	}
	_, _ = os.Stdout.WriteString(mine.Build + "\n" + now + "\n" + replaced + "\n")
}

// TestBuild knows a program that is no release by its file, as that was when the
// program began, and a file that is another one by now.
func TestBuild(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	copied := func(to string) {
		t.Helper()
		text, err := os.ReadFile(os.Args[0])
		if err == nil {
			err = os.WriteFile(to, text, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	when := time.Now().Add(-time.Hour).Truncate(time.Second)
	stamp := func(file string, at time.Time) {
		t.Helper()
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	replace := func(change func(file string)) {
		t.Helper()
		other := program + ".new"
		copied(other)
		change(other)
		if err := os.Rename(other, program); err != nil {
			t.Fatal(err)
		}
	}
	var first string
	for _, c := range []struct {
		name           string
		change         func()
		same, replaced bool // whether the file has the same build after the change, and is taken for another one
	}{
		{"no change", func() {}, true, false},
		{"written anew", func() { stamp(program, when.Add(time.Second)) }, false, true},
		{"another one of that size", func() { replace(func(file string) { stamp(file, when.Add(time.Minute)) }) }, false, true},
		{"another one of that age", func() {
			replace(func(file string) {
				if err := os.Truncate(file, 1<<28); err != nil {
					t.Fatal(err)
				}
				stamp(file, when)
			})
		}, false, true},
		{"a copy", func() { replace(func(file string) { stamp(file, when) }) }, true, true},
		{"gone", func() { _ = os.Remove(program) }, false, true},
	} {
		_ = os.Remove(program)
		copied(program)
		stamp(program, when)
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), otherEnv+"=build")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 3)); err != nil {
			t.Fatal(err)
		}
		c.change()
		_, _ = io.WriteString(in, "\n")
		text, _ := io.ReadAll(out)
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		said := strings.Split(string(text), "\n")
		if first == "" {
			first = said[0]
		}
		if said[0] != first || (said[1] == first) != c.same || said[2] == "replaced" != c.replaced || first == "devel" {
			t.Errorf("%s: %q, and at first %q", c.name, said, first)
		}
	}
}
