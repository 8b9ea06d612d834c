package detect

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

var (
	silentRE  = regexp.MustCompile(`\x1b\[[0-9;:]*m|\x1b\][^\x00-\x1f\x7f]*(?:\x07|\x1b\\)|[\x0e\x0f\r]`)
	controlRE = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f]`)
)

// provenReady checks a ready verdict from the evidence by other means than the
// classifier's: on the stripped text, a glyph and a no-break space stand
// between two rules with nothing in column 0 beneath, or the screen reader's
// prompt is the last row; and no witness says otherwise.
func provenReady(t testing.TB, e Evidence, v Verdict) {
	t.Helper()
	if v.State != Ready {
		return
	}
	if v.Dialog != nil || v.Retry != "" || v.ResetAt != nil || v.AutoResume {
		t.Errorf("ready with %+v", v)
	}
	if e.Dead || e.Process == ProcessGone || e.Process == ProcessStopped || e.Process == ProcessUnseen || e.Client != nil && (e.Client.Status == "busy" || e.Client.Status == "waiting") {
		t.Errorf("ready against a witness: %+v", e)
	}
	if r := []rune(e.Title); len(r) > 0 && (r[0] > 0x2800 && r[0] <= 0x28ff || strings.ContainsRune("◐◑◒◓", r[0])) {
		t.Errorf("ready under the title %q", e.Title)
	}
	// Colours, links and changes of character set draw nothing; whatever else is
	// no character is drawn as a mark.
	text := silentRE.ReplaceAllString(strings.ToValidUTF8(string(e.Screen), "\ufffd"), "")
	text = controlRE.ReplaceAllString(text, "\ufffd")
	rows := strings.Split(strings.TrimRight(text, "\n "), "\n")
	isRule := func(r string) bool {
		return strings.HasPrefix(r, "───") || strings.HasPrefix(r, "━━━") || strings.HasPrefix(r, "▔▔▔")
	}
	for y := len(rows) - 1; y > 0; y-- {
		glyph := false
		for _, g := range []string{"❯", ">", "!", "#", "&", "$"} {
			glyph = glyph || strings.HasPrefix(rows[y], g+"\u00a0")
		}
		if !glyph || !isRule(rows[y-1]) {
			continue
		}
		for n := y + 1; n < len(rows); n++ {
			if isRule(rows[n]) {
				return
			}
		}
	}
	if strings.HasPrefix(rows[len(rows)-1], "$") {
		return
	}
	t.Errorf("ready by %s without a box:\n%s", v.Rule, strings.Join(rows, "\n"))
}

// TestReadyIsProven shuffles real rows into screens that never were, with
// witnesses at random, and holds each ready verdict to its proof.
func TestReadyIsProven(t *testing.T) {
	var pool [][][]byte
	var titles []string
	for _, dir := range corpora() {
		for _, c := range loadCorpus(t, dir) {
			pool = append(pool, selfContained(c.e.Screen))
			titles = append(titles, c.e.Title)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	ready := 0
	for range 5000 {
		var rows [][]byte
		for range 1 + rnd.IntN(4) {
			src := pool[rnd.IntN(len(pool))]
			from := rnd.IntN(len(src))
			if rnd.IntN(2) == 0 {
				from = max(0, len(src)-1-rnd.IntN(14)) // the bottom is where it is decided
			}
			rows = append(rows, src[from:]...)
		}
		e := Evidence{Screen: joinRows(rows...), Width: 120, CursorX: -1, CursorY: -1, Title: titles[rnd.IntN(len(titles))]}
		e.Process = []Process{ProcessUnknown, ProcessUnknown, ProcessRunning, ProcessGone, ProcessUnseen}[rnd.IntN(5)]
		if rnd.IntN(3) == 0 {
			e.Client = &Client{Status: []string{"idle", "busy", "waiting"}[rnd.IntN(3)]}
		}
		v := Classify(e)
		provenReady(t, e, v)
		if v.State == Ready {
			ready++
		}
	}
	if ready < 100 {
		t.Errorf("only %d of the screens were ready: the property was hardly tried", ready)
	}
}

// TestQuoted puts whole screens of every kind into the history above an idle
// box, as an answer would quote them: the box still decides.
func TestQuoted(t *testing.T) {
	for _, dir := range corpora() {
		for _, c := range loadCorpus(t, dir) {
			quote := strings.ReplaceAll(ansi.Strip(strings.TrimRight(string(c.e.Screen), "\n")), "\n", "\n  ")
			e := drawn(prompt("show it"), "", answer("Here:\n  "+quote), "", finished("Cooked for 2s"), "", idle(""), modeLine)
			if v := Classify(e); v.State != Ready {
				t.Errorf("%s quoted in an answer: %s by %s", c.id, v.State, v.Rule)
			}
			e = drawn(prompt("show it"), "", answer("Here:\n  "+quote), "", working(), busyMode)
			if v := Classify(e); v.State != Busy {
				t.Errorf("%s quoted in a running answer: %s by %s", c.id, v.State, v.Rule)
			}
			// The same rows, colours and all, from column 0: whatever they make of
			// it, a box that is not idle is not typed into.
			e = drawn(string(c.e.Screen), working(), busyMode)
			if v := Classify(e); v.Typable() {
				t.Errorf("%s above a running turn's box: typable by %s", c.id, v.Rule)
			}
		}
	}
}

// TestQuotedInPlace puts what other screens show right above the box of each
// screen that is not ready, as the end of its last answer: it stays what it is.
func TestQuotedInPlace(t *testing.T) {
	var quotes []string
	for _, c := range loadCorpus(t, "testdata/screens") {
		if c.state == "ready" {
			quotes = append(quotes, "  "+strings.ReplaceAll(ansi.Strip(strings.TrimRight(string(c.e.Screen), "\n")), "\n", "\n  "))
		}
	}
	// A few dozen are enough: each is put above every box there is.
	stride := 1 + len(quotes)/24
	tried := 0
	for _, dir := range corpora() {
		for _, c := range loadCorpus(t, dir) {
			var r reader
			b, ok := r.parseScreen(c.e.Screen, c.e.Width).findBox()
			if !notReady(c) || !ok || !b.whole {
				continue
			}
			rows := selfContained(c.e.Screen)
			for i := tried % stride; i < len(quotes); i += stride {
				q, e := quotes[i], c.e
				e.CursorX, e.CursorY = -1, -1
				e.Screen = joinRows(joinRows(rows[:b.top]...), []byte("\x1b[0m"+q), joinRows(rows[b.top:]...))
				tried++
				if v := Classify(e); v.Typable() {
					t.Errorf("%s with a quote above its box: typable by %s", c.id, v.Rule)
				}
			}
		}
	}
	if tried == 0 {
		t.Error("nothing was tried")
	}
}

func FuzzClassify(f *testing.F) {
	for _, c := range loadCorpus(f, "testdata/screens") {
		f.Add(c.e.Screen, c.e.Title, c.e.CursorX, c.e.CursorY, 0)
	}
	f.Fuzz(func(t *testing.T, screen []byte, title string, x, y, bits int) {
		e := Evidence{Screen: screen, Title: title, CursorX: x, CursorY: y, Width: bits >> 8 & 0x1ff, Dead: bits&1 != 0, VimMode: bits&2 != 0}
		e.Process = []Process{ProcessUnknown, ProcessRunning, ProcessStopped, ProcessGone}[bits>>2&3]
		if bits&16 != 0 {
			e.Client = &Client{Status: []string{"idle", "busy", "waiting"}[(bits>>5&3)%3]}
		}
		e.Now, e.Zone = date(2026, 11, 29, 12, 0), nil
		v := Classify(e)
		provenReady(t, e, v)
		if w := Explain(e); w.State != v.State || w.Rule != v.Rule {
			t.Errorf("explain says %s by %s, classify %s by %s", w.State, w.Rule, v.State, v.Rule)
		}
	})
}
