package fleet

import (
	"slices"
	"strings"
)

// summarize is a row of the page on which going back in the conversation is
// confirmed. As the selection comes there it is another, which takes a text (2.1.332).
const summarize = "Summarize from here"

// questionOf is the dialog that a look saw, which has to have one.
func questionOf(s seen) Question {
	q := Question{Host: s.Host.Name, State: s.State, Rule: s.Rule, Title: neutral(s.Dialog.Title)}
	f, ok := faceOf(s)
	switch {
	case !ok && s.Dialog.Selected < 0:
		q.Why = "none of its options is marked as selected: it takes other keys"
	case !ok:
		q.Why = "its options can't be told apart on this screen"
	case f.settings():
		q.Why = "it is a panel of settings or a list that is searched, not a question"
	case len(f.Options) == 1:
		// No question of any version has a single one (1.0.128 to 2.1.332).
		q.Why = "only one of its options shows, and the pane may be too low for the others"
	case slices.Contains(f.Options, summarize):
		q.Why = "its rows and what it says change as the selection comes to them"
	default:
		q.Answerable = true
	}
	if ok {
		if cut := f.cut(); cut != "" {
			q.Asks = append(q.Asks, neutral(cut)) // of what stands above
		}
		for _, row := range f.asks() {
			q.Asks = append(q.Asks, neutral(row))
		}
	}
	for i, label := range s.Dialog.Options {
		o := Choice{Label: neutral(bare(label)), Selected: i == s.Dialog.Selected, Free: isFree(label)}
		if bare(label) != label {
			ticked := strings.HasPrefix(label, boxTicked)
			o.Ticked = &ticked
		}
		if ok {
			o.Danger = f.dangerOf(i)
		}
		q.Options = append(q.Options, o)
	}
	return q
}

// labels are the options in one line, for a person.
func (q *Question) labels() string {
	all := make([]string, len(q.Options))
	for i, o := range q.Options {
		all[i] = quote(o.Label)
	}
	return strings.Join(all, ", ")
}

// asked is what a question is about, in a few words: the last row above its
// options, else its title.
func (q *Question) asked() string {
	if n := len(q.Asks); n > 0 {
		return cut(q.Asks[n-1], 80)
	}
	return cut(q.Title, 80)
}
