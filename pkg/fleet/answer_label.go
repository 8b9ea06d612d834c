package fleet

import (
	"slices"
	"strings"
)

// freeLabels are those of the row in which an answer of one's own is typed, before
// anything is (1.0.128 to 2.1.332).
var freeLabels = []string{
	"Type something.", "Type something", "Other", "Type here to tell Claude what to do differently", "Type here to tell Claude what to change",
}

// boxes stand before an option that is ticked rather than chosen.
const (
	boxOpen   = "[ ] "
	boxTicked = "[✔] "
)

// bare is an option's label without the box to tick.
func bare(label string) string {
	for _, box := range []string{boxOpen, boxTicked} {
		if rest, ok := strings.CutPrefix(label, box); ok {
			return rest
		}
	}
	return label
}

// isFree tells whether an option takes a typed answer, and has none yet.
func isFree(label string) bool { return slices.Contains(freeLabels, bare(label)) }

// pickLabel finds the options that a caller's words name: those with that very
// label; else those that begin with it; else the same without regard to case. The
// words are those that were printed, and so neutralised. Of several the caller
// has to choose, of none as well.
func pickLabel(options []string, label string) []int {
	words := strings.Join(strings.Fields(label), " ")
	if words == "" {
		return nil
	}
	plain := func(option string) string { return strings.Join(strings.Fields(neutral(option)), " ") }
	for _, fits := range []func(option, words string) bool{
		func(o, w string) bool { return o == w },
		strings.HasPrefix,
		strings.EqualFold,
		func(o, w string) bool { return strings.HasPrefix(strings.ToLower(o), strings.ToLower(w)) },
	} {
		var found []int
		for i, o := range options {
			if fits(plain(o), words) || fits(plain(bare(o)), words) {
				found = append(found, i)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}
