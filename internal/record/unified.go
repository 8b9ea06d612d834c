package main

import "strings"

// around is how many equal lines are shown beside those that differ.
const around = 2

// unified is the difference of two lists of lines: "-" before what only the old
// has, "+" before what only the new has, "…" where equal lines are left out.
// Nil where they are equal.
func unified(old, new []string) []string {
	lines := edits(old, new)
	keep := make([]bool, len(lines))
	differ := false
	for i, line := range lines {
		if line[0] == ' ' {
			continue
		}
		differ = true
		for j := max(0, i-around); j <= min(len(lines)-1, i+around); j++ {
			keep[j] = true
		}
	}
	if !differ {
		return nil
	}
	var out []string
	for i, line := range lines {
		switch {
		case keep[i]:
			out = append(out, strings.TrimRight(line, " "))
		case i > 0 && !keep[i-1]:
		default:
			out = append(out, "…")
		}
	}
	return out
}

// edits turns old into new in as few lines as can be. Screens are short: a
// table of the lengths of what the rests have in common does.
func edits(old, new []string) []string {
	common := make([][]int, len(old)+1)
	for i := range common {
		common[i] = make([]int, len(new)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(new) - 1; j >= 0; j-- {
			if old[i] == new[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var lines []string
	i, j := 0, 0
	for i < len(old) || j < len(new) {
		switch {
		case i < len(old) && j < len(new) && old[i] == new[j]:
			lines = append(lines, " "+old[i])
			i, j = i+1, j+1
		case j == len(new) || i < len(old) && common[i+1][j] >= common[i][j+1]:
			lines = append(lines, "-"+old[i])
			i++
		default:
			lines = append(lines, "+"+new[j])
			j++
		}
	}
	return lines
}
