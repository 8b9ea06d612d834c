package fleet_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// TestMain runs the tests, and then the examples over a fleet that
// $CLAUDE_FLEET_CONFIG names, so that they read like a user's program. The two are
// runs of their own: the examples' rig is there only while they run, and only if any
// was asked for.
func TestMain(m *testing.M) {
	if err := rigtest.MoreAtOnce(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(testsThenExamples(m))
}

func testsThenExamples(m *testing.M) int {
	for _, name := range []string{"test.list", "test.fuzz"} {
		if flag.Lookup(name).Value.String() != "" {
			return m.Run()
		}
	}
	skip, run := flag.Lookup("test.skip"), flag.Lookup("test.run").Value.String()
	given := skip.Value.String()
	also := func(pattern string) error {
		if given != "" {
			pattern = given + "|" + pattern
		}
		return skip.Value.Set(pattern)
	}
	if names, err := exampleNames(); err != nil || len(names) == 0 {
		fmt.Fprintf(os.Stderr, "look for the examples: %d found, %v\n", len(names), err)
		return 2
	}
	code := 0
	if !examplesAlone(run) {
		if err := also("^Example"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		code = m.Run()
	}
	if !asksForExamples(run) {
		return code
	}
	stop, err := startExamples()
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the rig of the examples:", err)
		return 1
	}
	if err := also("^(Test|Fuzz)"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 2
	}
	_ = flag.Set("test.bench", "") // they have run
	code = max(code, m.Run())
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "close the rig of the examples:", err)
		code = max(code, 1)
	}
	return code
}

// asksForExamples tells whether -run selects one, as far as that can be told of
// alternatives: where it can't, it is enough that the pattern has the word.
func asksForExamples(run string) bool {
	if strings.Contains(run, "Example") {
		return true
	}
	first, _, _ := strings.Cut(run, "/")
	pattern, err := regexp.Compile(first)
	if err != nil {
		return false // the tests' run has said so
	}
	names, _ := exampleNames() // an error has ended all by now
	return slices.ContainsFunc(names, pattern.MatchString)
}

// exampleNames are the examples that this package's files have.
func exampleNames() (names []string, err error) {
	files, err := filepath.Glob("example*_test.go")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, found := range regexp.MustCompile(`(?m)^func (Example\w*)\(`).FindAllSubmatch(text, -1) {
			names = append(names, string(found[1]))
		}
	}
	return names, nil
}

// examplesAlone tells whether -run can select nothing but examples: each of its
// alternatives begins with the word. Where it can't be told, the tests run too.
func examplesAlone(run string) bool {
	run = strings.TrimPrefix(run, "^")
	if inner, ok := strings.CutPrefix(strings.TrimSuffix(run, "$"), "("); ok {
		if inner, ok = strings.CutSuffix(inner, ")"); !ok {
			return false
		}
		run = inner
	}
	for alternative := range strings.SplitSeq(run, "|") {
		if !strings.HasPrefix(strings.TrimPrefix(alternative, "^"), "Example") {
			return false
		}
	}
	return true
}

// startExamples starts the examples' hosts, with a session on the first of them, and
// makes this process one that drives them.
func startExamples() (stop func() error, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // the client may have to be fetched
	defer cancel()
	r, err := rig.Start(ctx, rig.Options{Hosts: []rig.HostSpec{
		{Name: "web", Trusted: true, BypassAccepted: true},
		{Name: "db", NoClient: true},
	}})
	if err != nil {
		return nil, err
	}
	table, err := r.PatientFleet()
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	restore, err := setenv(append(r.LocalEnv(), "CLAUDE_FLEET_CONFIG="+table))
	// What the rig starts to close itself must not have a host's environment: it
	// would be ended as a part of that host.
	stop = func() error { return errors.Join(restore(), r.Close()) }
	if err == nil {
		err = sessionUp(ctx, "web")
	}
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}

// setenv sets NAME=value entries, and gives what takes them back.
func setenv(env []string) (restore func() error, err error) {
	var back []func() error
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		was, ok := os.LookupEnv(name)
		back = append(back, func() error {
			if !ok {
				return os.Unsetenv(name)
			}
			return os.Setenv(name, was)
		})
		err = errors.Join(err, os.Setenv(name, value))
	}
	return func() (err error) {
		for _, undo := range slices.Backward(back) { // an entry may be there twice
			err = errors.Join(err, undo())
		}
		return err
	}, err
}

func sessionUp(ctx context.Context, name string) error {
	f, err := fleet.Load("", fleet.WithTimeout(time.Minute))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	hosts, err := f.Select(name)
	if err != nil {
		return err
	}
	for res := range f.Up(ctx, hosts...) {
		err = res.Err
	}
	return err
}

func TestRunsAlone(t *testing.T) {
	for run, want := range map[string]bool{
		"Example": true, "^Example": true, "^ExampleLoad$": true, "^(ExampleLoad|ExampleNewTable)$": true, "ExampleLoad|^ExampleNew": true,
		"": false, "TestSend": false, "ExampleLoad|TestSend": false, "^(ExampleLoad|TestSend)$": false, "(ExampleLoad)|TestSend": false, "Example(Load|New)": false,
	} {
		if examplesAlone(run) != want {
			t.Errorf("-run %q: %v", run, !want)
		}
	}
}
