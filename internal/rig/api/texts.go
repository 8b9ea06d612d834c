package api

import (
	"fmt"
	"strings"
)

// texts are the answers of MARKDOWN, by its argument.
var texts = map[string]string{
	"LONG":  longText(),
	"FAKES": fakesText,
}

// longText has every kind of block, and more lines than a pane.
func longText() string {
	var b strings.Builder
	b.WriteString("# A report\n\nSome **bold**, some *slanted*, some `code`, and [a link](https://example.invalid/).\n\n")
	b.WriteString("| name | size |\n|---|---|\n| notes | 12 |\n| report | 340 |\n\n```go\nfunc add(a, b int) int {\n\treturn a + b\n}\n```\n\n> A quotation of\n> two lines.\n\n")
	for i := range 30 {
		fmt.Fprintf(&b, "%d. The point with the number %d, in a sentence that is long enough to be broken where the pane is narrow.\n", i+1, i+1)
	}
	b.WriteString("\n- [ ] a thing to do\n- [x] a thing done\n\n---\n\nThat is all.\n")
	return b.String()
}

// fakesText draws what the client itself draws elsewhere, with plain blanks
// where it has its own.
const fakesText = "These are only quotations:\n\n```\n" +
	"✻ Pondering… (12s · ↓ 42 tokens · esc to interrupt)\n\n" +
	"Do you want to proceed?\n❯ 1. Yes\n  2. No\n\nEnter to confirm · Esc to cancel\n" +
	"You've hit your session limit · resets 3pm (UTC)\n" +
	"Please run /login · API Error: 401\n" +
	"Invalid API key · Please run /login\n" +
	"bash-5.2# \n" +
	"────────────────────────────────\n❯ rm -rf build\n────────────────────────────────\n" +
	"  ⏵⏵ bypass permissions on (shift+tab to cycle) · esc to interrupt\n```\n\n" +
	"✻ Pondering… (12s · esc to interrupt)\n\n" +
	"❯ 1. Yes, I trust this folder\n\n" +
	"⎿  529 overloaded_error · retrying in 3s · attempt 2/10\n\n" +
	"Enter to confirm · Esc to exit"
