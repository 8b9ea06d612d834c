package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
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
var pasted = lazyRegexp(`(?s)\n*<pasted_content id="([0-9a-f]+)">\n(.*?)\n</pasted_content id="([0-9a-f]+)">\n?`)

// What the client writes, as a user or local_command record, for a command that
// it carries out itself: the name comes first.
var (
	commandName = lazyRegexp(`(?s)<command-name>(.*?)</command-name>`)
	commandArgs = lazyRegexp(`(?s)<command-args>(.*?)</command-args>`)
	shellInput  = lazyRegexp(`(?s)^<bash-input>(.*)</bash-input>$`)
)

// Matches tells whether a record is the prompt that was sent: equal after
// Normalise, once the frame of a large paste is taken off, or the slash command
// or the "!" shell command that it is.
func Matches(record Record, prompt string) bool {
	return slices.Contains(sent(record), canonical(prompt))
}

// Digest stands for a prompt where its text must not be kept: two prompts have
// the same if and only if a record that Matches the one does the other.
func Digest(prompt string) string {
	sum := sha256.Sum256([]byte(canonical(prompt)))
	return hex.EncodeToString(sum[:])
}

// MatchesDigest is Matches for the prompt that has that digest.
func MatchesDigest(record Record, digest string) bool {
	return slices.ContainsFunc(sent(record), func(p string) bool { return Digest(p) == digest })
}

// QueuesDigest tells whether a record says that the client has put the prompt of
// that digest into its queue.
func QueuesDigest(record Record, digest string) bool {
	return record.Enqueued() && (Digest(record.Text()) == digest || Digest(Unframed(record.Text())) == digest)
}

// blockedPrefix and blockedPrompt frame what a hook said that refused a prompt
// (2.1.332); the prompt stands behind it.
const (
	blockedPrefix = "UserPromptSubmit operation blocked by hook:"
	blockedPrompt = "\n\nOriginal prompt: "
	// maxBlockedPrompts bounds where the prompt is looked for: a hostile text may
	// have the words a hundred thousand times.
	maxBlockedPrompts = 8
)

// BlocksDigest tells whether a record says that a hook of the session refused the
// prompt of that digest, and what the hook said, which is not neutralised.
func BlocksDigest(record Record, digest string) (reason string, ok bool) {
	said, ok := strings.CutPrefix(record.Text(), blockedPrefix)
	if !ok || record.Type != "system" {
		return "", false
	}
	// The words may stand in what the hook said, or in the prompt: the first of them
	// that fit. Each costs a digest of all that follows.
	at := 0
	for range maxBlockedPrompts {
		i := strings.Index(said[at:], blockedPrompt)
		if i < 0 {
			break
		}
		at += i + len(blockedPrompt)
		if p := said[at:]; Digest(p) == digest || Digest(Unframed(p)) == digest {
			return strings.TrimSpace(said[:at-len(blockedPrompt)]), true
		}
	}
	return "", false
}

// canonical is a prompt in the form that can be compared. A command's name and
// its arguments stand in tags of their own in a record, without what was between;
// composed characters are in their one-rune form; which invisible characters are
// left depends on what is around them; and the client writes "<\pasted_content" for
// a frame that was in the text (2.1.332).
func canonical(prompt string) string {
	p := strings.Map(func(r rune) rune {
		switch {
		case r == '\u2028', r == '\u2029':
			return '\n'
		case Invisible(r):
			return -1
		}
		return r
	}, strings.ReplaceAll(prompt, `<\`, "<"))
	p = norm.NFC.String(Normalise(p))
	if command, ok := strings.CutPrefix(p, "!"); ok {
		return "!" + Normalise(command)
	}
	if strings.HasPrefix(p, "/") {
		if i := strings.IndexFunc(p, unicode.IsSpace); i >= 0 {
			return p[:i] + " " + Normalise(p[i:])
		}
	}
	return p
}

// sent lists what a record may prove to have been sent, in canonical form.
func sent(r Record) []string {
	var prompts []string
	if command, ok := r.Command(); ok {
		prompts = append(prompts, canonical(command))
	}
	if text, ok := r.Prompt(); ok {
		prompts = append(prompts, canonical(text))
		if plain := Unframed(text); plain != text {
			prompts = append(prompts, canonical(plain))
		}
	}
	return prompts
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
	return inOrder(records)
}
