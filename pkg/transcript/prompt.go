package transcript

import (
	"fmt"
	"regexp"
	"strings"
)

// Normalise is what becomes of a prompt on its way into a conversation, as
// measured on client 2.1.332: CRLF and CR are LF, a TAB is four spaces, and
// white space at either end is dropped.
func Normalise(prompt string) string {
	prompt = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "    ").Replace(prompt)
	return strings.TrimSpace(prompt)
}

// pasted is the frame in which the client puts a paste that it showed as a
// placeholder (over 800 characters, or over three lines, in one paste).
var pasted = regexp.MustCompile(`(?s)\n*<pasted_content id="([0-9a-f]+)">\n(.*?)\n</pasted_content id="([0-9a-f]+)">\n?`)

var (
	commandName = regexp.MustCompile(`(?s)<command-name>(.*?)</command-name>`)
	commandArgs = regexp.MustCompile(`(?s)<command-args>(.*?)</command-args>`)
)

// Matches tells whether a prompt record is the prompt that was sent: equal
// after Normalise, once the frame of a large paste is taken off, or the slash
// command that it is.
func Matches(record Record, prompt string) bool {
	text, ok := record.Prompt()
	if !ok {
		return false
	}
	want := Normalise(prompt)
	if Normalise(text) == want || Normalise(pasted.ReplaceAllString(text, "$2")) == want {
		return true
	}
	name := commandName.FindStringSubmatch(text)
	if name == nil || !strings.HasPrefix(want, "/") {
		return false
	}
	got := name[1]
	if args := commandArgs.FindStringSubmatch(text); args != nil && args[1] != "" {
		got += " " + args[1]
	}
	return Normalise(got) == want
}

// SinceFragment is the sh text that prints the turn records of a conversation
// behind its first offset bytes. The id must be one that Query found.
func SinceFragment(id string, offset int64) string {
	return configDir + fmt.Sprintf("for t in \"$base\"/projects/*/%s.jsonl; do [ -f \"$t\" ] && tail -c +%d \"$t\" | %s; done\n:\n",
		safeID(id), offset+1, onlyTurns)
}

// TailFragment is the sh text that prints the turn records in the last max
// bytes of a conversation.
func TailFragment(id string, max int64) string {
	return configDir + fmt.Sprintf("for t in \"$base\"/projects/*/%s.jsonl; do [ -f \"$t\" ] && tail -c %d \"$t\" | %s; done\n:\n",
		safeID(id), max, onlyTurns)
}

// safeID drops what is not part of a conversation's id, which stands unquoted
// in a script beside a glob and comes from a file on the machine.
func safeID(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' {
			return r
		}
		return -1
	}, id)
}

// ParseRecords reads the records that a fragment printed, oldest first. A first
// line that was cut is passed over.
func ParseRecords(out []byte) []Record {
	var records []Record
	for line := range strings.Lines(string(out)) {
		if r, ok := ParseRecord([]byte(strings.TrimSuffix(line, "\n"))); ok {
			records = append(records, r)
		}
	}
	return records
}
