package detect

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// bigScreen is a 200x50 screen full of coloured text above an idle box.
func bigScreen() Evidence {
	var b bytes.Buffer
	for y := range 46 {
		fmt.Fprintf(&b, "\x1b[38;5;231m●\x1b[39m %s \x1b[38;5;246m(line %d)\x1b[39m", strings.Repeat("lorem ipsum ", 15), y)
		b.WriteString("\n")
	}
	rule := "\x1b[38;5;244m" + strings.Repeat("─", 200)
	b.WriteString(rule + "\n\x1b[39m❯\u00a0\x1b[7m \x1b[0m\n" + rule + "\n\x1b[39m  \x1b[38;5;211m⏵⏵ bypass permissions on\x1b[38;5;246m (shift+tab to cycle)\x1b[39m\n")
	return Evidence{Screen: b.Bytes(), Width: 200, Height: 50, CursorX: 2, CursorY: 47, Title: "✳ Claude Code"}
}

// colourful is a screen of the same size with a colour for each word, and with
// wide characters, as a highlighted diff of a translation would be.
func colourful() Evidence {
	e := bigScreen()
	rows := bytes.Split(e.Screen, []byte("\n"))
	for y := range 46 {
		var b bytes.Buffer
		for x := range 28 {
			fmt.Fprintf(&b, "\x1b[38;5;%dmword%d\x1b[39m ", 20+(x*7+y)%200, x%10)
		}
		rows[y] = append(b.Bytes(), "테스트 · ─── ✔"...)
	}
	e.Screen = bytes.Join(rows, []byte("\n"))
	return e
}

func BenchmarkClassify200x50(b *testing.B) { benchmarkClassify(b, bigScreen()) }

func BenchmarkClassifyColourful200x50(b *testing.B) { benchmarkClassify(b, colourful()) }

func benchmarkClassify(b *testing.B, e Evidence) {
	b.Helper()
	if v := Classify(e); !v.Typable() {
		b.Fatalf("the screen is %s by %s: %s", v.State, v.Rule, v.Why)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(e.Screen)))
	for b.Loop() {
		Classify(e)
	}
}

// BenchmarkClassifyCorpus is the mean over the real screens.
func BenchmarkClassifyCorpus(b *testing.B) {
	cs := loadCorpus(b, "testdata/screens")
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		Classify(cs[i%len(cs)].e)
		i++
	}
}
