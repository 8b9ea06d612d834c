package transcript

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
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

// What the client writes, as a user or local_command record, for a command that
// it carries out itself: the name comes first.
var (
	commandName = regexp.MustCompile(`(?s)<command-name>(.*?)</command-name>`)
	commandArgs = regexp.MustCompile(`(?s)<command-args>(.*?)</command-args>`)
	shellInput  = regexp.MustCompile(`(?s)^<bash-input>(.*)</bash-input>$`)
)

// Matches tells whether a record is the prompt that was sent: equal after
// Normalise, once the frame of a large paste is taken off, or the slash command
// or the "!" shell command that it is.
func Matches(record Record, prompt string) bool {
	text, ok := record.Prompt()
	if record.Type == "system" && record.Subtype == "local_command" && !record.Meta && !record.Side {
		text, ok = record.Text(), true
	} else if ok && (Normalise(text) == Normalise(prompt) || Normalise(pasted.ReplaceAllString(text, "$2")) == Normalise(prompt)) {
		return true
	}
	if !ok {
		return false
	}
	want := Normalise(prompt)
	if command, ok := strings.CutPrefix(want, "!"); ok {
		input := shellInput.FindStringSubmatch(text)
		return input != nil && Normalise(input[1]) == Normalise(command)
	}
	// The tags that a person writes into a prompt are not at its beginning, or the
	// whole prompt is other text.
	if !strings.HasPrefix(want, "/") || !strings.HasPrefix(text, "<command-") {
		return false
	}
	name := commandName.FindStringSubmatch(text)
	if name == nil {
		return false
	}
	args := ""
	if m := commandArgs.FindStringSubmatch(text); m != nil {
		args = m[1]
	}
	wantName, wantArgs := want, ""
	if i := strings.IndexFunc(want, unicode.IsSpace); i >= 0 {
		wantName, wantArgs = want[:i], want[i:]
	}
	return Normalise(name[1]) == wantName && Normalise(args) == Normalise(wantArgs)
}

// SinceFragment is the sh text that prints the turn records of a conversation
// that begin behind its first offset bytes. A record that the offset falls into
// is not among them: ParseRecords passes over what is left of it. The id must be
// one that Query found.
func SinceFragment(id string, offset int64) string {
	return tailFragment(id, fmt.Sprintf("+%d", max(offset, 0)+1))
}

// TailFragment is the sh text that prints the turn records in the last max
// bytes of a conversation.
func TailFragment(id string, max int64) string {
	return tailFragment(id, fmt.Sprint(max))
}

func tailFragment(id, from string) string {
	return configDir + fmt.Sprintf("t=$(newest '%s')\n[ -f \"$t\" ] && tail -c %s \"$t\" | %s\n:\n", safeID(id), from, onlyTurns)
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
