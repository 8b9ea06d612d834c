package setuptoken

import (
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// sight is what the rows of the client's screen say.
type sight struct {
	address string      // to sign in at; empty when none is shown
	token   fleet.Token // none when it shows none
	trouble string      // what it says is wrong; empty when nothing is
	retry   bool        // it waits for Enter to go back to the box for the code
}

// tokenText is compiled when it is first asked for: every program would wait for it.
var tokenText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^A-Za-z0-9_-])(sk-ant-oat[0-9]{2}-[A-Za-z0-9_-]+)(?:$|[^A-Za-z0-9_-])`)
})

// read takes the rows of a screen.
func read(rows []string) sight {
	var s sight
	for _, row := range rows {
		if s.address == "" {
			s.address = address(row)
		}
		if m := tokenText().FindStringSubmatch(row); m != nil {
			if t, err := fleet.ParseToken(m[1]); err == nil {
				s.token = t
			}
		}
		if words, ok := strings.CutPrefix(row, "✘"); ok && s.trouble == "" {
			s.trouble = printable(words)
		}
		s.retry = s.retry || strings.Contains(row, "Enter to retry")
	}
	return s
}

// address is the address of a page on a row of its own: https, with a name of a
// host, no account in it, and nothing in it but what a terminal shows as it is.
func address(row string) string {
	if !strings.HasPrefix(row, "https://") || strings.ContainsFunc(row, func(r rune) bool { return r <= ' ' || r > '~' }) || fleet.Redact(row) != row {
		return ""
	}
	u, err := url.Parse(row)
	if err != nil || u.Hostname() == "" || u.User != nil {
		return ""
	}
	return row
}

// printable is a row that may be shown: nothing that a terminal would obey, and
// nothing that looks like a token.
func printable(row string) string {
	return strings.TrimSpace(fleet.Redact(transport.Neutralise(row)))
}

// lastWords are the last rows of a screen, for an error.
func lastWords(rows []string) string {
	var words []string
	for _, row := range rows[max(0, len(rows)-6):] {
		if row = strings.Trim(printable(row), "─│╭╮╰╯…. "); row == "" {
			continue
		}
		if r := []rune(row); len(r) > 120 {
			row = string(r[:120]) + "…"
		}
		words = append(words, row)
	}
	if len(words) == 0 {
		return "it shows nothing"
	}
	return "it shows: " + strings.Join(words, " / ")
}
