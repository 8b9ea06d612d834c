package fleet

import (
	"cmp"
	"slices"
	"strings"
)

// near returns the candidates that word may have meant, at most three, the
// nearest first and the candidates' order among equals.
func near(word string, candidates []string) []string {
	type match struct {
		word     string
		distance int
	}
	var matches []match
	low := strings.ToLower(word)
	bare := strings.TrimPrefix(low, "@")
	for _, candidate := range candidates {
		c := strings.ToLower(candidate)
		// One slip in three letters: more would match anything.
		limit := max(1, min(len(low), len(c))/3)
		d := limit + 1
		// The difference in length is a lower bound, and keeps a huge word cheap.
		if max(len(low)-len(c), len(c)-len(low)) <= limit {
			d = distance(low, c)
		}
		switch {
		case d <= limit:
		case bare != "" && bare == strings.TrimPrefix(c, "@"): // the @ alone differs
			d = 1
		case len(bare) >= 3 && strings.Contains(c, bare), len(c) >= 3 && strings.HasPrefix(low, c):
			d = limit + 1 // a part of it, or it and more
		default:
			continue
		}
		matches = append(matches, match{candidate, d})
	}
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(a.distance, b.distance) })
	var words []string
	for _, m := range matches[:min(len(matches), 3)] {
		words = append(words, m.word)
	}
	return words
}

// distance counts the letters to add, drop, change or swap with their neighbour
// to make b of a (optimal string alignment, over bytes).
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(last[j]+1, row[j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// didYouMean words near matches as the end of a message; none, as nothing.
func didYouMean(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return ": did you mean " + printable(strings.Join(words, " or ")) + "?"
}
