package main

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// ellipsis stands where text was taken away; it is one cell wide.
const ellipsis = "…"

// cutEnd shortens text to width cells by taking its end away. What a reader sees
// as one character stays whole or goes whole, as in every cut.
func cutEnd(text string, width int) string { return cutAt(text, width, width-1) }

// cutStart takes the beginning away: of a path the end tells more.
func cutStart(text string, width int) string { return cutAt(text, width, 0) }

// cutMiddle takes what is within away.
func cutMiddle(text string, width int) string { return cutAt(text, width, width/2) }

// cutAt keeps up to head cells of the beginning, and of the end what else has room in
// width cells beside the ellipsis.
func cutAt(text string, width, head int) string {
	switch n := ansi.StringWidth(text); {
	case n <= width:
		return text
	case width <= 0:
		return ""
	}
	head = max(0, min(head, width-1))
	clusters, widths := split(text)
	i, used := 0, 0
	for i < len(clusters) && used+widths[i] <= head {
		used += widths[i]
		i++
	}
	j := len(clusters)
	for j > i && used+widths[j-1] < width && head < width-1 {
		used += widths[j-1]
		j--
	}
	return strings.Join(clusters[:i], "") + ellipsis + strings.Join(clusters[j:], "")
}

// fold makes a list into lines of up to width cells, each item whole; a width of 0
// or less has no limit.
func fold(items []string, width int) []string {
	var lines []string
	line := ""
	for i, item := range items {
		if i < len(items)-1 {
			item += ","
		}
		switch {
		case line == "":
			line = item
		case width > 0 && ansi.StringWidth(line+" "+item) > width:
			lines = append(lines, line)
			line = item
		default:
			line += " " + item
		}
	}
	return append(lines, line)
}

// split takes text apart into what a reader sees as one character each, and tells
// how many cells each has.
func split(text string) (clusters []string, widths []int) {
	for text != "" {
		c, w := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		clusters, widths = append(clusters, c), append(widths, w)
		text = text[len(c):]
	}
	return clusters, widths
}

// cutBranch shortens what git tells of a workdir: the name of the branch gives
// way, and the counts behind it stay.
func cutBranch(text string, width int) string {
	branch, counts, found := strings.Cut(text, " ")
	if room := width - ansi.StringWidth(counts) - 1; found && room >= 2 {
		return cutEnd(branch, room) + " " + counts
	}
	return cutEnd(text, width)
}

// cutApart cuts names so that no two of them look alike, at one place of all:
// their end if that leaves them different, else their beginning, else within.
func cutApart(names []string) func(string, int) string {
	places := map[int]int{} // by width
	return func(text string, width int) string {
		head, known := places[width]
		if !known {
			head = apart(names, width)
			places[width] = head
		}
		return cutAt(text, width, head)
	}
}

// apart finds how many cells of the beginning to keep, so that names which are
// cut to width stay different; where nothing does, as many as there are.
func apart(names []string, width int) int {
	heads := []int{width - 1, 0}
	for h := width - 2; h > 0; h-- {
		heads = append(heads, h)
	}
	for _, head := range heads {
		seen := map[string]string{}
		alike := false
		for _, name := range names {
			short := cutAt(name, width, head)
			other, taken := seen[short]
			alike = alike || taken && other != name
			seen[short] = name
		}
		if !alike {
			return head
		}
	}
	return width - 1
}
