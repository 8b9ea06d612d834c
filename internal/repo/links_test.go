package repo

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// documents are the pages that people read, by their paths below the root.
func documents(t *testing.T) []string {
	t.Helper()
	pages := []string{"README.md", "AGENTS.md", "CHANGELOG.md"}
	found, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(found) == 0 {
		t.Fatal("no pages in docs: ", err)
	}
	for _, f := range found {
		pages = append(pages, "docs/"+filepath.Base(f))
	}
	return pages
}

var (
	link   = regexp.MustCompile(`!?\[[^\]]*\]\(([^()\s]+)\)`)
	inline = regexp.MustCompile("`[^`]*`")
)

// TestLinks holds that each link of the documents that leads into the repository
// leads somewhere: to a file, and to a heading of it.
func TestLinks(t *testing.T) {
	n := 0
	for _, page := range documents(t) {
		for _, target := range links(read(t, page)) {
			n++
			if err := follow(page, target); err != nil {
				t.Errorf("%s: [](%s): %v", page, target, err)
			}
		}
	}
	if n < 20 {
		t.Errorf("the documents have %d links: are they still found?", n)
	}
}

// links are the targets of a page's links, code left out.
func links(text string) []string {
	var all []string
	for _, line := range prose(text) {
		for _, m := range link.FindAllStringSubmatch(inline.ReplaceAllString(line, ""), -1) {
			all = append(all, m[1])
		}
	}
	return all
}

// follow says why a link leads nowhere. What leads out of the repository is not
// looked at.
func follow(page, target string) error {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return nil
	}
	file, anchor, _ := strings.Cut(target, "#")
	to := page
	if file != "" {
		to = path.Join(path.Dir(page), file)
	}
	if strings.HasPrefix(to, "..") {
		return fmt.Errorf("it leads out of the repository")
	}
	text, err := os.ReadFile(filepath.Join(root, to))
	if info, statErr := os.Stat(filepath.Join(root, to)); statErr == nil && info.IsDir() && anchor == "" {
		return nil
	}
	if err != nil {
		return err
	}
	if anchor != "" && !anchors(string(text))[anchor] {
		return fmt.Errorf("%s has no such heading", to)
	}
	return nil
}

// anchors are what the headings of a page are called, as GitHub calls them.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, line := range prose(text) {
		title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(title))
		for i, first := 1, name; all[name]; i++ {
			name = fmt.Sprintf("%s-%d", first, i)
		}
		all[name] = true
	}
	return all
}

// prose are the lines of a page outside its fenced blocks; fenced, those within.
func prose(text string) []string  { lines, _ := split(text); return lines }
func fenced(text string) []string { _, lines := split(text); return lines }

func split(text string) (prose, fenced []string) {
	in := false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			in = !in
		case in:
			fenced = append(fenced, line)
		default:
			prose = append(prose, line)
		}
	}
	return prose, fenced
}

// TestFollow has the negative twins.
func TestFollow(t *testing.T) {
	for _, c := range []struct {
		page, target string
		ok           bool
	}{
		{"README.md", "LICENSE", true},
		{"README.md", "LICENCE", false},
		{"README.md", "docs/states.md", true},
		{"docs/states.md", "../README.md#exit-codes", true},
		{"docs/states.md", "../README.md#exit-code", false},
		{"docs/states.md", "README.md", false},
		{"docs/states.md", "#states", true},
		{"docs/states.md", "#statistics", false},
		{"README.md", "../elsewhere.md", false},
		{"README.md", "examples", true},
		{"README.md", "https://example.net/no/such/page", true},
	} {
		if err := follow(c.page, c.target); (err == nil) != c.ok {
			t.Errorf("%s: %s: %v", c.page, c.target, err)
		}
	}
	if got := links("a [b](c.md) `[d](e)`\n```\n[f](g)\n```\n![h](i.svg)"); strings.Join(got, " ") != "c.md i.svg" {
		t.Errorf("links: %v", got)
	}
	if got := anchors("# A `b`, c!\n## A b c\n```\n# no\n```\n"); !got["a-b-c"] || !got["a-b-c-1"] || got["no"] {
		t.Errorf("anchors: %v", got)
	}
}
