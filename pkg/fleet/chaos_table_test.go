package fleet_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// chaosRun is one run and how it came out.
type chaosRun struct {
	plan   chaosPlan
	point  point
	first  said // of the sending that was hit
	last   said // of the last one
	sends  int
	took   time.Duration // by the first
	ending ending
	detail string // for one that must not be
	stray  bool   // something was left on the host
	host   string
	is     truth
}

// chaosLog collects the runs of all hosts.
type chaosLog struct {
	mu   sync.Mutex
	runs []chaosRun
}

func (l *chaosLog) add(r chaosRun) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs = append(l.runs, r)
}

var letters = map[ending]string{accepted: "a", left: "l", absent: "n", refused: "r", doubt: "d", lost: "LOST ", doubled: "DOUBLED ", partial: "PARTIAL ", untrue: "UNTRUE "}

// tally counts endings: "12a 2l".
func tally(runs []chaosRun) string {
	n := map[ending]int{}
	for _, r := range runs {
		n[r.ending]++
	}
	var parts []string
	for _, e := range []ending{accepted, left, absent, refused, doubt, lost, doubled, partial, untrue} {
		if n[e] > 0 {
			parts = append(parts, fmt.Sprintf("%d%s", n[e], letters[e]))
		}
	}
	return cmp.Or(strings.Join(parts, " "), ".")
}

// table shows where the runs were hit, by what, and how they ended; and the
// totals.
func (l *chaosLog) table() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	row := func(name string, cells []string) {
		fmt.Fprintf(&b, "%-12s", name)
		for _, c := range cells {
			fmt.Fprintf(&b, " | %-14s", c)
		}
		b.WriteString("\n")
	}
	all := append([]fault{none}, faults...)
	header := make([]string, len(all))
	for i, f := range all {
		header[i] = string(f)
	}
	row("hit while", header)
	for _, p := range points {
		cells := make([]string, len(all))
		for i, f := range all {
			cells[i] = tally(l.where(func(r chaosRun) bool { return r.point == p && r.plan.fault == f }))
		}
		row(string(p), cells)
	}
	b.WriteString("a accepted, l left in the box and said, n typed at most in part, not in the box any more and said, r refused with nothing typed, d in doubt and said\n\n")
	for _, text := range chaosTexts {
		fmt.Fprintf(&b, "%-10s %s\n", text.name, tally(l.where(func(r chaosRun) bool { return r.plan.text.name == text.name })))
	}
	count := func(e ending) int { return len(l.where(func(r chaosRun) bool { return r.ending == e })) }
	hits := l.where(func(r chaosRun) bool { return r.point != notHit })
	calm := l.where(func(r chaosRun) bool { return r.plan.fault == none })
	fmt.Fprintf(&b, "\n%d sendings: %d hit, %d that ended before they were, %d left alone; %d accepted (%d by a later sending under the same id), %d left in the box and said, %d not in the box any more and said, %d refused, %d in doubt and said\n",
		len(l.runs), len(hits), len(l.runs)-len(hits)-len(calm), len(calm), count(accepted), len(l.where(func(r chaosRun) bool { return r.ending == accepted && r.sends > 1 })), count(left), count(absent), count(refused), count(doubt))
	fmt.Fprintf(&b, "lost without being said %d, doubled %d, partial %d, said otherwise than it is %d, something left on the host %d\n",
		count(lost), count(doubled), count(partial), count(untrue), len(l.where(func(r chaosRun) bool { return r.stray })))
	return b.String()
}

// where is called with the lock held.
func (l *chaosLog) where(is func(chaosRun) bool) []chaosRun {
	return slices.DeleteFunc(slices.Clone(l.runs), func(r chaosRun) bool { return !is(r) })
}
