package main

import (
	"regexp"
	"strings"
)

// words are what a text of the plugin names, in a part of it: what stands
// between two headings.
type words struct {
	where string   // the file and the heading
	rules []string // permission rules, of the frontmatter
	spans []string // code, as it stands between backticks or as a line of a block
	// rows are the cells of tables, those of their heads too.
	rows [][]string
}

var (
	span = regexp.MustCompile("`([^`]+)`")
	// rule is a permission rule of the frontmatter.
	rule = regexp.MustCompile(`[A-Za-z]+\([^()]*\)`)
)

// wordsOf takes a text apart. Its frontmatter comes as a part of its own.
func wordsOf(file, text string) []words {
	parts := []words{{where: file + ": frontmatter"}}
	lines := strings.Split(text, "\n")
	if lines[0] == "---" {
		for lines = lines[1:]; len(lines) > 0 && lines[0] != "---"; lines = lines[1:] {
			if strings.HasPrefix(lines[0], "allowed-tools:") {
				parts[0].rules = append(parts[0].rules, rule.FindAllString(lines[0], -1)...)
			}
		}
	}
	parts = append(parts, words{where: file})
	fenced, prose := false, ""
	flush := func() {
		part := &parts[len(parts)-1]
		for _, m := range span.FindAllStringSubmatch(prose, -1) {
			// A span may go on in the next line of its paragraph.
			part.spans = append(part.spans, strings.Join(strings.Fields(m[1]), " "))
		}
		prose = ""
	}
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		part := &parts[len(parts)-1]
		switch {
		case strings.HasPrefix(trimmed, "```"):
			flush()
			fenced = !fenced
		case fenced:
			part.spans = append(part.spans, trimmed)
		case strings.HasPrefix(line, "#"):
			flush()
			parts = append(parts, words{where: file + ": " + strings.TrimLeft(line, "# ")})
		case strings.HasPrefix(trimmed, "|"):
			var cells []string
			for cell := range strings.SplitSeq(strings.Trim(trimmed, "|"), "|") {
				cells = append(cells, strings.TrimSpace(cell))
			}
			part.rows = append(part.rows, cells)
			prose += line + "\n"
		case trimmed == "":
			flush()
		default:
			prose += line + "\n"
		}
	}
	flush()
	return parts
}
