package fleet

import (
	"regexp"
	"strings"
)

// danger is a kind of option that is chosen only by somebody who says so twice
// (AnswerOptions.Yes).
type danger struct {
	words func() *regexp.Regexp
	why   string
	// label tells that the words count in the label alone: a description that
	// explains what does not happen has them too.
	label bool
}

// dangers are tried from the top. The words are those of the client's own dialogs
// (1.0.128 to 2.1.332) and of the questions that a model asks.
var dangers = []danger{
	{lazyRegexp(`(?i)[$€£]\s?\d|\d\s?(usd|eur)\b`), "it names a price", false},
	{lazyRegexp(`(?i)\b(upgrade|buy|purchase|subscribe|billing|billed|spend|extra usage|top[- ]?up|add (funds|credits?)|buy credits?)\b`), "it may spend money", false},
	{lazyRegexp(`(?i)^(no, )?(exit|quit)\b|^(no, )?(end|kill|stop|terminate) (the |this )?(session|server|client|agents?)|\b(log|sign) ?out\b`), "it ends the client or its login", true},
	{lazyRegexp(`(?i)\b(delete|remove|erase|discard|overwrite|wipe|destroy|drop|uninstall|force[- ]push|restore|rewind|revert|roll ?back|clear)\b`), "it may destroy something", true},
	{lazyRegexp(`(?i)^yes, and (allow|keep|remember)\b|^yes, and switch to\b|^yes, allow\b|\bbypass\b|no further prompts|\bunattended\b|\b(for|during) this session\b|\bfrom this project\b|\bremember this\b|\bexternal imports\b`), "the session would ask less before it acts", true},
	{lazyRegexp(`(?i)don.t ask again|\ball future\b|\balways allow\b|\ballow all\b|\bauto mode\b|\bauto-?accept|\baccept edits\b`), "the session would ask no more before it acts", true},
}

// narrows are options that go to a mode in which the session asks more, or as much.
var narrows = lazyRegexp(`(?i)^yes, and switch to (the )?(default|plan|normal)\b[^$€£]*$`)

// dangerousTitles are dialogs in which every option but the way back is one.
var dangerousTitles = []struct{ title, but, why string }{
	{"bypass permissions mode", "no", "the session would ask nothing before it acts"},
	{"rewind", "(current)", "it goes back in the conversation, and perhaps in the files"},
	{"confirm you want to restore", "never mind", "it goes back in the conversation, and perhaps in the files"},
}

// wayBack is the option by which a dialog about going back is left (2.1.332, where
// it has the same title as the list before it).
const wayBack = "Never mind"

// dangerOf tells why an option needs to be confirmed; empty when it does not.
func (f *face) dangerOf(option int) string {
	label := bare(f.Options[option])
	if narrows().MatchString(label) {
		return ""
	}
	for _, d := range dangers {
		text := label
		if !d.label {
			text = f.text(option)
		}
		if d.words().MatchString(text) || d.words().MatchString(label) {
			return d.why
		}
	}
	for _, d := range dangerousTitles {
		if strings.EqualFold(label, wayBack) {
			break
		}
		if strings.Contains(strings.ToLower(f.Title), d.title) && !strings.HasPrefix(strings.ToLower(label), d.but) {
			return d.why
		}
	}
	return ""
}
