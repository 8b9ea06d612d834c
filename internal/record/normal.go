package main

import (
	"regexp"
	"unicode/utf8"
)

// spinning are the glyphs of a title while the client works.
var spinning = regexp.MustCompile(`[⠁-⣿◐◑◒◓]`)

// steady are the parts of a screen that differ between two runs of one version,
// and what stands for them. They apply in this order, to a row without its
// colours; what is put in takes the colour of the first cell that it stands for.
var steady = []struct {
	what    *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`^( *)[·✢✳✶✻✽*] \p{Lu}[\p{L}'’ -]*…`), "$1<glyph> <Verb>…"},
	{regexp.MustCompile(`✻ \p{Lu}[\p{L}-]* for `), "✻ <Verbed> for "},
	{spinning, "<spin>"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "<the API>"}, // before its parts pass for a version and a time
	{regexp.MustCompile(`\d{1,2}:\d\d(?::\d\d)? ?(?:[ap]m|[AP]M)?`), "<time>"},
	{regexp.MustCompile(`\b\d{1,2} ?(?:am|pm|AM|PM)\b`), "<time>"},
	{regexp.MustCompile(`\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d{1,2}(?:, \d{4})?`), "<date>"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d\b`), "<date>"},
	{regexp.MustCompile(`\b\d+(?:\.\d+)?(?:ms|s|m|h)(?: \d+(?:ms|s|m))*\b`), "<span>"},
	{regexp.MustCompile(`\b\d+ (seconds?|minutes?|hours?) `), "<n> seconds "},
	{regexp.MustCompile(`\b\d+(?:\.\d+)?k?(?:/\d+(?:\.\d+)?k?)? tokens`), "<n> tokens"},
	{regexp.MustCompile(`attempt \d+`), "attempt <n>"},
	{regexp.MustCompile(`\bv?\d+\.\d+\.\d+\b`), "<version>"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<id>"},
	{regexp.MustCompile(`\b(?:toolu|msg|req)_\w+`), "<id>"},
	{regexp.MustCompile(regexp.QuoteMeta(base) + `/\d+`), base + "/<n>"},
	{regexp.MustCompile(`\bword\d+`), "word<n>"},
	{regexp.MustCompile(`Try "[^"]*"?`), `Try "<hint>"`},
	// Notices that come and go, and the logo, which moves.
	{regexp.MustCompile(`^ *⎿ +Tip: .*$`), ""},
	{regexp.MustCompile(`^ +tmux focus-events off.*$`), ""},
	{regexp.MustCompile(`^ +(?:<spin>|[●○]) \p{L}+ · /effort$`), ""},
	{regexp.MustCompile(` · ← for agents`), ""},
	{regexp.MustCompile(`^[ ▀-▟]*[▀-▟]{2,}[ ▀-▟]*`), "<logo> "},
	{regexp.MustCompile(`[─▔╌]{9,}`), "────────"},
	{regexp.MustCompile(`\$\d+\.\d+`), "$$<n>"},
}

// normal is a screen as rows that two runs of one version have in common, with
// marks for colours. Empty rows that follow each other are one.
func normal(raw string) []string {
	var rows []string
	for _, row := range parseCells(raw) {
		text := marked(steadied(row))
		if text == "" && len(rows) > 0 && rows[len(rows)-1] == "" {
			continue
		}
		rows = append(rows, text)
	}
	return rows
}

// steadied is a row with all of steady replaced.
func steadied(row []cell) []cell {
	for _, s := range steady {
		row = replaced(row, s.what, s.instead)
	}
	return row
}

// replaced puts text instead of what matches in a row.
func replaced(row []cell, what *regexp.Regexp, instead string) []cell {
	var text []byte
	var starts []int // the byte at which each cell starts
	for _, c := range row {
		starts = append(starts, len(text))
		text = append(text, string(c.r)...)
	}
	matches := what.FindAllSubmatchIndex(text, -1)
	if matches == nil {
		return row
	}
	var out []cell
	next := 0 // the first cell that is not dealt with
	for _, m := range matches {
		for next < len(row) && starts[next] < m[0] {
			out = append(out, row[next])
			next++
		}
		if next == len(row) {
			break
		}
		look := row[next].look
		for _, r := range string(what.Expand(nil, []byte(instead), text, m)) {
			out = append(out, cell{r, look})
		}
		for next < len(row) && starts[next] < m[1] {
			next++
		}
	}
	return append(out, row[next:]...)
}

// normalFacts is the line of facts without what a run alone decides: where the
// cursor is among rows that move, how long the history is, and the title's words.
func normalFacts(facts string) string {
	m := metaLine.FindStringSubmatch(facts)
	if m == nil {
		return facts
	}
	glyph := "other"
	first, _ := utf8.DecodeRuneInString(m[4])
	switch {
	case first == '✳':
		glyph = "✳"
	case spinning.MatchString(string(first)):
		glyph = "<spin>"
	}
	return "alt=" + m[1] + " column=" + m[2] + " title=" + glyph + " mode=" + m[5]
}
