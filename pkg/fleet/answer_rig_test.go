package fleet_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// asks is a host with a fake client at whose files dialogs open.
type asks struct {
	*testing.T
	f    *fleet.Fleet
	h    *rig.Host
	seen int // events before the dialog at hand
}

// opening are faults that open a dialog each when its file is made.
func opening(dialogs ...fakeclient.Fault) []fakeclient.Fault {
	for i := range dialogs {
		dialogs[i].On = fakeclient.OnFile
		if dialogs[i].File == "" {
			dialogs[i].File = dialogs[i].Dialog
		}
	}
	return dialogs
}

func startAsks(t *testing.T, s fakeclient.Script) *asks {
	t.Helper()
	r := rigtest.Start(t, rig.HostSpec{Name: "alpha", Trusted: true, BypassAccepted: true, Fake: &s})
	f := over(t, r, fleet.WithTimeout(time.Minute))
	up(t, f)
	return &asks{T: t, f: f, h: r.Host("alpha")}
}

// opens opens a dialog, which shows when it returns.
func (a *asks) opens(file string) {
	a.Helper()
	a.seen = len(events(a.T, a.h))
	if err := a.h.BringFault(a.Context(), file); err != nil {
		a.Fatal(err)
	}
}

// got are the texts of the events of a kind since the dialog opened.
func (a *asks) got(what string) []string {
	return fakeclient.Texts(events(a.T, a.h)[a.seen:], what)
}

// drops cancels the dialog that is up, past the product.
func (a *asks) drops() {
	a.Helper()
	n := len(a.got(fakeclient.Cancelled))
	if _, err := a.h.Tmux(a.Context(), "send-keys", "-t", "=claude:", "Escape"); err != nil {
		a.Fatal(err)
	}
	rigtest.Eventually(a.T, time.Minute, "the dialog to be cancelled", func() (bool, string) {
		return len(a.got(fakeclient.Cancelled)) > n, "it is not"
	})
}

// log adds what the client did since the dialog opened to a failure.
func (a *asks) log() {
	a.Helper()
	for _, e := range events(a.T, a.h)[a.seen:] {
		a.Log(e)
	}
}

// answerRuns is how many answers TestAnswerKeys gives in all, by four hosts, unless
// answersEnv says how many.
const (
	answerRuns = 24
	answersEnv = "CLAUDE_FLEET_ANSWERS"
)

// TestAnswerKeys gives many answers to dialogs whose screens come late and half
// drawn, and of which some give way to another between the look and the key. Every key is on record: none but those towards the label, one Enter, and none at
// all where the dialog is another.
func TestAnswerKeys(t *testing.T) {
	t.Parallel()
	ask := []struct {
		file   string
		labels []string // to be chosen, all of them without more ado
		yes    bool
	}{
		{"question", []string{"SQLite", "Postgres", "Chat about this"}, false},
		{"permission", []string{"Yes", "No"}, false},
		{"permission-last", []string{"Yes", "Yes, and switch", "No"}, true},
		{"bypass", []string{"Yes, I accept"}, true},
		{"bypass-last", []string{"Yes, I accept"}, true},
	}
	runs := answerRuns
	if text := os.Getenv(answersEnv); text != "" {
		var err error
		if runs, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for n, script := range []fakeclient.Script{
		{},
		{DialogLate: 900 * time.Millisecond},
		{DialogFlicker: 2 * time.Second},
		{DialogLate: 500 * time.Millisecond, DialogFlicker: 2 * time.Second},
	} {
		t.Run(fmt.Sprint(n+1), func(t *testing.T) {
			t.Parallel()
			script.Faults = opening(
				fakeclient.Fault{Dialog: fakeclient.DialogQuestion}, fakeclient.Fault{Dialog: fakeclient.DialogPermission}, fakeclient.Fault{Dialog: fakeclient.DialogBypass},
				fakeclient.Fault{File: "permission-last", Dialog: fakeclient.DialogPermission, Selected: 3}, fakeclient.Fault{File: "bypass-last", Dialog: fakeclient.DialogBypass, Selected: 1},
				fakeclient.Fault{File: "swap", Dialog: fakeclient.DialogPermission, About: "rm -rf all", Selected: 1})
			a := startAsks(t, script)
			if err := a.h.FaultBefore("never", "swap"); err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(uint64(n), 7))
			for run := range runs / 4 {
				q := ask[random.IntN(len(ask))]
				label := q.labels[random.IntN(len(q.labels))]
				swapped := random.IntN(5) == 0
				a.opens(q.file)
				if swapped { // the lock is taken before the screen is compared
					if err := a.h.FaultBefore("set-option", "swap"); err != nil {
						t.Fatal(err)
					}
				}
				out, err := a.f.Answer(t.Context(), "alpha", fleet.AnswerOptions{Label: label, Yes: q.yes})
				keys, enters := a.got(fakeclient.DialogKey), 0
				for _, k := range keys {
					if k == "Enter" {
						enters++
					} else if k != "Up" && k != "Down" {
						t.Errorf("run %d: the key %q", run, k)
					}
				}
				switch answered := a.got(fakeclient.Answered); {
				case swapped:
					if len(keys) > 0 || len(answered) > 0 || out.Result != fleet.AnswerRefused || fleet.ClassOf(err) != fleet.ClassRefused {
						t.Errorf("run %d: %s in %s swapped: %s, keys %q, answered %q: %v", run, label, q.file, out.Result, keys, answered, err)
					}
					if err := a.h.FaultBefore("never", "swap"); err != nil {
						t.Fatal(err)
					}
					a.drops()
				case err != nil || out.Result != fleet.AnswerGiven || enters != 1 || !slices.Equal(keys, out.Keys):
					t.Errorf("run %d: %s in %s: %s, keys %q, said to be %q: %v", run, label, q.file, out.Result, keys, out.Keys, err)
				case len(answered) != 1 || !strings.HasPrefix(answered[0], label) || label == "Yes" && answered[0] != label:
					t.Errorf("run %d: %s in %s: answered %q", run, label, q.file, answered)
				}
				if t.Failed() {
					a.log()
					return
				}
			}
		})
	}
}
