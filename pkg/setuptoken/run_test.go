package setuptoken

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
)

var (
	buildOnce sync.Once
	program   string
	buildErr  error
)

func TestMain(m *testing.M) {
	code := m.Run()
	if program != "" {
		_ = os.RemoveAll(filepath.Dir(program))
	}
	os.Exit(code)
}

// scripted is the scripted client, in a home of its own.
func scripted(t *testing.T, s fakeclient.Setup) string {
	t.Helper()
	buildOnce.Do(func() {
		dir, err := os.MkdirTemp("", "setup-token-")
		if err != nil {
			buildErr = err
			return
		}
		program = filepath.Join(dir, "claude")
		out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "../../internal/rig/fakeclient/claude").CombinedOutput()
		if err != nil {
			buildErr = errors.New(string(out))
		}
	})
	if buildErr != nil {
		t.Fatal(buildErr)
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := (fakeclient.Script{Setup: s}).Write(home); err != nil {
		t.Fatal(err)
	}
	return program
}

// clients counts the scripted clients that run.
func clients(t *testing.T) int {
	t.Helper()
	n := 0
	all, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if exe, err := os.Readlink(path); err == nil && exe == program {
			n++
		}
	}
	return n
}

func TestRun(t *testing.T) {
	const good = "abcDEF_12-3#state"
	stop := errors.New("the person went away")
	for name, tt := range map[string]struct {
		setup fakeclient.Setup
		codes []string // that the person gives; behind them, none
		token string   // the code that it is of; empty for none
		says  string   // in the error
		told  string   // what the person was told was wrong, before the last code
	}{
		"a code":                     {fakeclient.Setup{}, []string{" " + good + "\n"}, good, "", ""},
		"half of it first":           {fakeclient.Setup{}, []string{"abc", good}, good, "", "That doesn't look like the full code."},
		"half of it twice":           {fakeclient.Setup{}, []string{"abc", "abc", good}, good, "", "That doesn't look like the full code."},
		"refused first":              {fakeclient.Setup{Refuse: 1}, []string{"a#b", good}, good, "", "OAuth error: Request failed with status code 400"},
		"refused too often":          {fakeclient.Setup{Refuse: 9}, []string{"a#1", "a#2", "a#3"}, "", "no code of 3 was taken: OAuth error", "OAuth error: Request failed with status code 400"},
		"by the browser":             {fakeclient.Setup{Alone: time.Millisecond}, nil, fakeclient.AloneCode, "", ""},
		"no code":                    {fakeclient.Setup{}, nil, "", stop.Error(), ""},
		"two words":                  {fakeclient.Setup{}, []string{"a b"}, "", "it is one word", ""},
		"a key":                      {fakeclient.Setup{}, []string{"a\x1b[A"}, "", "it is one word", ""},
		"silent":                     {fakeclient.Setup{Silent: true}, nil, "", "it showed nothing that is known in", ""},
		"deaf":                       {fakeclient.Setup{Deaf: true}, []string{good}, "", "it showed nothing that is known in", ""},
		"junk with half a token":     {fakeclient.Setup{Junk: "Choose a theme\n\x1b]0;title\x07 sk-ant-oat01"}, nil, "", "it shows: Choose a theme / [token]", ""},
		"an address that is no page": {fakeclient.Setup{Junk: "http://claude.ai/x"}, nil, "", "it shows: http://claude.ai/x", ""},
		"it ends":                    {fakeclient.Setup{Ends: true}, []string{good}, "", "it ended without a token", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Program: scripted(t, tt.setup), Start: 20 * time.Second, Answer: 20 * time.Second, Rest: 300 * time.Millisecond}
			if tt.setup.Silent || tt.setup.Junk != "" {
				o.Start = 2 * time.Second
			}
			if tt.setup.Deaf {
				o.Answer = 2 * time.Second
			}
			leaks := goleak.IgnoreCurrent()
			n, told := 0, ""
			o.Ask = func(ctx context.Context, address, trouble string) (string, error) {
				if address != fakeclient.SetupAddress {
					t.Errorf("the address is %q", address)
				}
				told = trouble
				if n == len(tt.codes) {
					if tt.setup.Alone > 0 {
						<-ctx.Done()
						return "", ctx.Err()
					}
					return "", stop
				}
				n++
				return tt.codes[n-1], nil
			}
			got, err := Run(t.Context(), o)
			if tt.token == "" {
				if err == nil || !strings.Contains(err.Error(), tt.says) || strings.ContainsAny(err.Error(), "\x1b\x07") || strings.Contains(err.Error(), "sk-ant") {
					t.Errorf("%v", err)
				}
			} else if err != nil || !got.Is(fakeclient.SetupToken(tt.token)) {
				t.Errorf("another token, or none: %v", err)
			}
			if told != tt.told || n != len(tt.codes) {
				t.Errorf("told %q; %d codes were asked for", told, n)
			}
			if n := clients(t); n != 0 {
				t.Errorf("%d clients run on", n)
			}
			if err := goleak.Find(leaks); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRunCancelled ends it at each of its waits.
func TestRunCancelled(t *testing.T) {
	for name, setup := range map[string]fakeclient.Setup{"before the address": {Silent: true}, "at the code": {}, "behind the code": {Deaf: true}} {
		o := Options{Program: scripted(t, setup), Rest: 50 * time.Millisecond}
		ctx, cancel := context.WithCancel(t.Context())
		o.Ask = func(asked context.Context, _, _ string) (string, error) {
			cancel()
			if setup.Deaf {
				return "a#b", nil
			}
			<-asked.Done()
			return "", asked.Err()
		}
		if setup.Silent {
			time.AfterFunc(300*time.Millisecond, cancel)
		}
		if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if n := clients(t); n != 0 {
			t.Errorf("%s: %d clients run on", name, n)
		}
		cancel()
	}
}

// TestRunNot has no client, and one that is not on a terminal of its own.
func TestRunNot(t *testing.T) {
	o := Options{Program: filepath.Join(t.TempDir(), "claude"), Ask: func(context.Context, string, string) (string, error) { return "", nil }}
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "--token-stdin") {
		t.Errorf("%v", err)
	}
	cmd := exec.Command(scripted(t, fakeclient.Setup{}), "setup-token")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "needs a terminal") {
		t.Errorf("without a terminal: %s, %v", out, err)
	}
}
