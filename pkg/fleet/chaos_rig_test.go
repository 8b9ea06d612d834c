package fleet_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/tmux"
)

// TestChaos takes how many runs it makes, and the seed that makes them what they
// are, from these variables; see `make chaos`.
const (
	chaosRunsEnv = "CLAUDE_FLEET_CHAOS"
	chaosSeedEnv = "CLAUDE_FLEET_CHAOS_SEED"
	// chaosFaultEnv makes only those of the runs that have this fault.
	chaosFaultEnv = "CLAUDE_FLEET_CHAOS_FAULT"

	chaosFewRuns = 16
	// chaosTries is how often a run is made that ends before it was to be hit.
	chaosTries = 3
	// chaosSends is how often a caller sends in all before giving up.
	chaosSends = 4
)

// chaosPlan is what is done in a run. The seed and the number of the run decide
// it, whichever else are made, but for the tag of its text.
type chaosPlan struct {
	n     int
	tag   string
	text  chaosText
	fault fault
	// moment is when it is hit: a part of how long an undisturbed sending takes;
	// or, where there is a step, some time after that.
	moment float64
	step   string
	hold   time.Duration
}

func planChaos(seed uint64, n int) chaosPlan {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	p := chaosPlan{
		n: n, text: chaosTexts[rng.IntN(len(chaosTexts))],
		fault:  faults[(n+n/len(faults))%len(faults)], // each on each host
		moment: rng.Float64(), hold: 200*time.Millisecond + time.Duration(rng.Float64()*float64(5*time.Second)),
	}
	steps := []string{string(tmux.StageTyping), string(tmux.StageEnter), string(tmux.StageSubmitted)}
	step := steps[rng.IntN(len(steps))]
	switch {
	case p.fault == killScript && n/len(faults)%2 == 1:
		p.step = string(tmux.StageEnter)
	case p.fault == killScript: // before there is a lock there is no script
		p.step = "lock"
	case n/len(faults)%2 == 1: // the short steps are hit too seldom by chance
		p.step = step
	}
	return p
}

// trigger is when a run is hit, if an undisturbed sending takes so long.
func (p chaosPlan) trigger(whole time.Duration) trigger {
	length := whole
	switch p.step {
	case "lock", string(tmux.StageTyping):
		length = whole / 3
	case string(tmux.StageEnter), string(tmux.StageSubmitted):
		length = whole / 12
	}
	return trigger{p.step, time.Duration(p.moment * float64(length))}
}

func (p chaosPlan) String() string {
	when := fmt.Sprintf("at %.2f", p.moment)
	if p.step != "" {
		when = fmt.Sprintf("%.2f behind %s", p.moment, p.step)
	}
	return fmt.Sprintf("run %d: %s, %s %s", p.n, p.text.name, p.fault, when)
}

// TestChaos ends senders, links, sshd's sessions and the scripts on the hosts at
// random points of a sending, over real SSH with the real client, and sends the
// same prompt under the same id again, as a caller would. What the commands then
// say must be true: no prompt is lost without being said, doubled, or taken in
// part or with another's text. Nothing is left on the hosts but the journals.
func TestChaos(t *testing.T) {
	t.Parallel()
	runs, seed := chaosFewRuns, uint64(time.Now().UnixNano())
	for name, set := range map[string]func(uint64){chaosRunsEnv: func(v uint64) { runs = int(v) }, chaosSeedEnv: func(v uint64) { seed = v }} {
		if text := os.Getenv(name); text != "" {
			v, err := strconv.ParseUint(text, 10, 63)
			if err != nil {
				t.Fatalf("%s=%q is no number", name, text)
			}
			set(v)
		}
	}
	t.Logf("%d runs; again with %s=%d", runs, chaosSeedEnv, seed)
	bin := buildBinary(t)
	var specs []rig.HostSpec
	for _, name := range []string{"alpha", "beta"} { // as many as there are cores on a small machine
		specs = append(specs, rig.HostSpec{Name: name, Trusted: true, BypassAccepted: true, Proxy: true})
	}
	r := rigtest.Start(t, specs...)
	m := newMachine(t, r, bin, "sender")
	var hosts []*chaosHost
	for _, h := range r.Hosts() {
		hosts = append(hosts, newChaosHost(t, r, h, m))
	}
	m.up(t)

	var log chaosLog
	var mu sync.Mutex
	whole := map[string]time.Duration{}
	each := func(name string, do func(t *testing.T, i int, c *chaosHost)) {
		t.Run(name, func(t *testing.T) {
			for i, c := range hosts {
				t.Run(c.Name, func(t *testing.T) { t.Parallel(); do(t, i, c) })
			}
		})
	}
	// How long a sending takes, and that nothing is amiss with one left alone.
	each("undisturbed", func(t *testing.T, i int, c *chaosHost) {
		for k := i; k < len(chaosTexts); k += len(hosts) {
			run := c.chaos(t, chaosPlan{n: -1 - k, tag: fmt.Sprintf("calm%dq", k), text: chaosTexts[k], fault: none}, 0)
			if run.ending != accepted || run.sends != 1 {
				t.Errorf("undisturbed %s: %s after %d: %s", chaosTexts[k].name, run.ending, run.sends, run.detail)
			}
			log.add(run)
			mu.Lock()
			whole[chaosTexts[k].name] = run.took
			mu.Unlock()
		}
	})
	t.Logf("undisturbed: %v", whole)
	each("hit", func(t *testing.T, i int, c *chaosHost) {
		for n := i; n < runs; n += len(hosts) {
			if only := os.Getenv(chaosFaultEnv); only != "" && string(planChaos(seed, n).fault) != only {
				continue
			}
			for try := 1; try <= chaosTries; try++ {
				p := planChaos(seed, n)
				p.tag = fmt.Sprintf("tag%04dx%dq", n, try)
				p.moment /= float64(try) // it ended before: earlier, then
				mu.Lock()
				length := whole[p.text.name]
				mu.Unlock()
				run := c.chaos(t, p, length)
				log.add(run)
				if run.ending.bad() {
					t.Errorf("%s, which was %s (seed %d): %s; %s", p, run.point, seed, run.ending, run.detail)
				}
				if run.point != notHit {
					break
				}
				mu.Lock()
				whole[p.text.name] = run.took // how long it takes now, on a machine that others use too
				mu.Unlock()
			}
		}
	})
	// A script that came late would have typed since.
	for _, run := range log.runs {
		c := hosts[0]
		for _, h := range hosts {
			if run.host == h.Name {
				c = h
			}
		}
		is, err := truthOf(r, c.Host, run.plan.text, run.plan.text.make(run.plan.tag), run.plan.tag)
		if err != nil || is.records != run.is.records || is.given != run.is.given || len(is.parts) != len(run.is.parts) {
			t.Errorf("%s: at the end it is %+v, %v; then it was %+v", run.plan, is, err, run.is)
		}
	}
	t.Logf("\n%s", log.table())
}

// chaos makes one run, which ends with a client that is ready again. whole is how
// long a sending of the kind takes when nothing is done to it.
func (c *chaosHost) chaos(t *testing.T, p chaosPlan, whole time.Duration) chaosRun {
	t.Helper()
	run := chaosRun{plan: p, host: c.Name, point: notHit}
	prompt, id := p.text.make(p.tag), p.tag
	args := []string{"send", "--json", "--id", id, c.Name, "-"}
	var all []said // what each sending said
	lie := ""
	send := func() said {
		s := c.m.run(t, prompt, args...)
		if stage := c.stage(id); s.code == 3 && stage != "" && stage != tmux.StageErased {
			lie = fmt.Sprintf("it said %s, but the host's journal says %s; ", s, stage)
		}
		all = append(all, s)
		return s
	}
	if p.step == byItself {
		run.point = atStep
	}
	begun := time.Now()
	sending := c.m.begin(prompt, args...)
	if p.fault != none && p.step != byItself && c.reached(t, id, p.trigger(whole), sending.done) {
		run.point = c.pointOf(t, id, prompt)
		if p.fault == twin {
			send()
		}
		if !c.hit(t, p.fault, p.hold, sending) {
			run.point = notHit
		}
	}
	run.first = sending.end(t)
	run.took = time.Since(begun)
	run.last = run.first
	all = append(all, run.last)
	for run.last.code != 0 && len(all) < chaosSends {
		before := run.last
		if before.code == 3 {
			c.settled(t) // a caller waits for a session that is ready
		}
		run.last = send()
		if run.last.code == before.code && (before.code == 4 || before.code == 5) {
			break // it says the same as before: that is what it is
		}
	}
	run.sends = len(all)
	asked := c.m.run(t, "", "outcome", "--json", c.Name, id)
	seen := c.settled(t)
	is, err := c.truth(t, p, prompt, run.last)
	if err != nil {
		t.Fatal(err)
	}
	is.draft = c.inBox(t, p.tag)
	run.is = is
	if (is.draft == "") != (seen == "") {
		t.Errorf("%s, which was %s: the box holds %q, and status tells of the draft %q", p, run.point, is.draft, seen)
	}
	run.ending = judge(run.last, is, p.text.mute)
	// What is there at the end was there when one of them said that it is.
	for _, s := range all {
		if e := judge(s, is, p.text.mute); s.code == 0 && e.bad() && !run.ending.bad() {
			run.ending = e
		}
	}
	if lie != "" && !run.ending.bad() {
		run.ending = untrue
	}
	if run.ending.bad() {
		run.detail = lie + fmt.Sprintf("sent %d times, it said at first %s and then %s, but it is %+v", run.sends, run.first, run.last, is)
	}
	t.Logf("%s, which was %s: %s; sent %d times, in %s at first: %s; then %s", p, run.point, run.ending, run.sends, run.took.Round(time.Millisecond), run.first, run.last)
	if e := judge(asked, is, p.text.mute); e.bad() || (e == accepted) != (run.ending == accepted) {
		t.Errorf("%s, which was %s: outcome is %q: %s; but the sending was %q: %s", p, run.point, e, asked, run.ending, run.last)
	}
	if left := c.leftovers(t, id, p.fault == killScript); len(left) > 0 {
		run.stray = true
		t.Errorf("%s, which was %s: it has left on %s: %s", p, run.point, c.Name, strings.Join(left, "; "))
	}
	c.emptied(t)
	return run
}

// truth waits a little for an accepted prompt to reach the API.
func (c *chaosHost) truth(t *testing.T, p chaosPlan, prompt string, last said) (is truth, err error) {
	t.Helper()
	late := time.Now().Add(20 * time.Second)
	for {
		is, err = truthOf(c.r, c.Host, p.text, prompt, p.tag)
		if err != nil || last.code != 0 || p.text.mute || is.given > 0 || time.Now().After(late) {
			return is, err
		}
		pause(50*time.Millisecond, nil)
	}
}
