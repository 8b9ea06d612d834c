package fleet_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/fakeclient"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
)

// report is a host with the fake client for one fault that users of such tools
// reported. What the real client makes of the same prompts is held by
// TestSendAwkward and the tests beside it.
type report struct {
	*testing.T
	f *fleet.Fleet
	p person
}

// sent sends and waits until the session is ready again; the result and how
// often the prompt was submitted, whole, must agree.
func (r report) sent(prompt string, o fleet.SendOptions, want fleet.Result) {
	r.Helper()
	whole := strings.TrimSpace(prompt)
	times := func() int {
		n := 0
		for _, text := range fakeclient.Texts(events(r.T, r.p.h), fakeclient.Submitted) {
			if strings.TrimSpace(transcript.Unframed(text)) == whole {
				n++
			}
		}
		return n
	}
	before := times()
	out, err := r.f.Send(r.Context(), "alpha", prompt, o)
	if out.Result != want {
		r.Errorf("%.60q: %s, want %s: %v", prompt, out.Result, want, err)
	}
	if n := times() - before; n != map[fleet.Result]int{fleet.Accepted: 1}[want] {
		r.Errorf("%.60q: %s, and it was submitted %d times", prompt, out.Result, n)
	}
}

func (r report) is(want detect.State, draft string) {
	r.Helper()
	is(r.T, r.f, want, draft)
}

// TestSendReports goes through the faults that users reported of submitting, each
// with its smallest input and, beside it, the input that must not be affected.
func TestSendReports(t *testing.T) {
	t.Parallel()
	plain := fleet.SendOptions{}
	for _, c := range []struct {
		name   string
		spec   rig.HostSpec
		script fakeclient.Script
		do     func(r report)
	}{
		{name: "1 answers the survey", script: fakeclient.Script{Faults: []fakeclient.Fault{{On: fakeclient.OnFile, File: "survey", Survey: true}}}, do: func(r report) {
			r.sent("1", plain, fleet.Accepted)
			r.is(detect.Ready, "")
			if err := r.p.h.BringFault(r.Context(), "survey"); err != nil {
				r.Fatal(err)
			}
			r.sent("1", plain, fleet.Refused)
			if rated := fakeclient.Texts(events(r.T, r.p.h), fakeclient.Rated); len(rated) > 0 {
				r.Errorf("the survey was answered: %q", rated)
			}
		}},
		{name: "a trailing newline is never submitted", do: func(r report) {
			r.sent("hello\n", plain, fleet.Accepted)
			r.is(detect.Ready, "")
			r.sent("hello", plain, fleet.Accepted)
		}},
		{name: "a paste makes several chips", do: func(r report) {
			r.sent(strings.Repeat("a line of seventy bytes or so, which is much for one line of text;\n", 40), plain, fleet.Accepted)
		}},
		{name: "Enter comes before the paste is digested", script: fakeclient.Script{DeafAfterPaste: 400 * time.Millisecond}, do: func(r report) {
			r.sent("hello", plain, fleet.Accepted)
			r.is(detect.Ready, "")
			r.sent("two\nlines", plain, fleet.Accepted)
		}},
		{name: "a terminal in canonical mode swallows it", do: func(r report) {
			r.sent(strings.Repeat("0123456789", 420), plain, fleet.Accepted)
			r.p.tmux("kill-session", "-t", "=claude")
			r.p.opens("claude", 120, 40, "exec cat")
			r.sent("hello", plain, fleet.Refused)
			if s := r.p.screen(); strings.TrimSpace(s) != "" {
				r.Errorf("it shows %q", s)
			}
		}},
		{name: "a trailing semicolon is dropped", do: func(r report) {
			for _, prompt := range []string{"drop table x;", ";", `x\;`} {
				r.sent(prompt, plain, fleet.Accepted)
				r.is(detect.Ready, "")
			}
		}},
		{name: "the name of a key is pressed", do: func(r report) {
			for _, prompt := range []string{"Enter", "C-c", "Space", "-t", "--help"} {
				r.sent(prompt, plain, fleet.Accepted)
				r.is(detect.Ready, "")
			}
		}},
		{name: "a burst arrives as its end", do: func(r report) {
			r.sent(strings.Repeat("a burst of so many bytes, ", 47)[:1204], plain, fleet.Accepted)
		}},
		{name: "a chip in the history passes for the text", do: func(r report) {
			long := strings.Repeat("line of many\n", 120)
			for _, prompt := range []string{long, "one\ntwo\nthree", long} {
				r.sent(prompt, plain, fleet.Accepted)
				r.is(detect.Ready, "")
			}
		}},
		{name: "vim's NORMAL mode swallows Enter", spec: rig.HostSpec{State: map[string]any{"editorMode": "vim"}}, script: fakeclient.Script{VimNormal: true}, do: func(r report) {
			r.sent("dd and more", plain, fleet.Accepted)
			r.is(detect.Ready, "")
			r.sent("in INSERT now", plain, fleet.Accepted)
		}},
		{name: "a draft is merged with the prompt", do: func(r report) {
			r.p.types("❯\u00a0", "half typed")
			r.sent("hello", plain, fleet.Refused)
			r.is(detect.Ready, "half typed")
			r.p.keys("C-u")
			r.is(detect.Ready, "")
			r.sent("hello", plain, fleet.Accepted)
		}},
		{name: "a question takes the text for an answer", script: fakeclient.Script{Turn: 20 * time.Second, Faults: []fakeclient.Fault{{On: fakeclient.OnTurn, Dialog: fakeclient.DialogQuestion}}}, do: func(r report) {
			r.sent("ask me", plain, fleet.Accepted)
			r.is(detect.Gate, "")
			r.sent("hello", fleet.SendOptions{Force: true, Queue: true}, fleet.Refused)
			if got := events(r.T, r.p.h); len(fakeclient.Texts(got, fakeclient.Answered))+len(fakeclient.Texts(got, fakeclient.DialogPaste)) > 0 {
				r.Errorf("%v", got)
			}
		}},
		{name: "messages pile up in the queue", script: fakeclient.Script{Turn: 20 * time.Second}, do: func(r report) {
			r.sent("first", plain, fleet.Accepted)
			r.is(detect.Busy, "")
			r.sent("second", fleet.SendOptions{Queue: true}, fleet.Queued)
			r.sent("third", plain, fleet.Refused)
			if queued := fakeclient.Texts(events(r.T, r.p.h), fakeclient.Queued); len(queued) != 1 || strings.TrimSpace(queued[0]) != "second" {
				r.Errorf("queued %q", queued)
			}
		}},
		{name: "typing is dead behind Escape twice", do: func(r report) {
			r.p.types("❯\u00a0", "half typed")
			r.p.keys("C-j")
			r.p.keys("-l", "more of it")
			r.p.shows("more of it")
			r.p.keys("Escape")
			r.p.keys("Escape")
			r.is(detect.Ready, "")
			r.sent("hello", plain, fleet.Accepted)
		}},
		{name: "two senders interleave", do: func(r report) {
			var both sync.WaitGroup
			prompts := []string{strings.Repeat("first sender's line\n", 20), strings.Repeat("second sender's line\n", 20)}
			for _, prompt := range prompts {
				both.Go(func() {
					rigtest.Eventually(r.T, 2*time.Minute, "a sender to get through", func() (bool, string) {
						out, err := r.f.Send(r.Context(), "alpha", prompt, plain)
						if out.Result != fleet.Accepted && out.Result != fleet.Refused {
							r.Errorf("%s: %v", out.Result, err)
						}
						return out.Result == fleet.Accepted, fmt.Sprint(err)
					})
				})
			}
			both.Wait()
			var got []string
			for _, text := range fakeclient.Texts(events(r.T, r.p.h), fakeclient.Submitted) {
				got = append(got, strings.TrimSpace(text)+"\n")
			}
			slices.Sort(got)
			if !slices.Equal(got, prompts) {
				r.Errorf("submitted %q", got)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			spec := c.spec
			spec.Name, spec.Trusted, spec.BypassAccepted, spec.Fake = "alpha", true, true, &c.script
			r := rigtest.Start(t, spec)
			f := over(t, r)
			up(t, f)
			c.do(report{t, f, person{t: t, r: r, h: r.Host("alpha")}})
		})
	}
}
