package transcript

import (
	"strings"
)

// Command is what was typed for a command that the client carries out itself:
// "/model sonnet", or "!ls" for a command of the shell. It is false for all
// other records.
func (r Record) Command() (string, bool) {
	text := r.Text()
	switch {
	case r.Meta || r.Side:
		return "", false
	case r.Type == "system" && r.Subtype == localCommand:
	case r.Type != "user" || r.Origin == human && !strings.HasPrefix(text, "<command-"):
		return "", false
	}
	if m := shellInput().FindStringSubmatch(text); m != nil {
		return "!" + strings.TrimSpace(m[1]), true
	}
	if !strings.HasPrefix(text, "<command-") {
		return "", false
	}
	name := commandName().FindStringSubmatch(text)
	if name == nil {
		return "", false
	}
	line := strings.TrimSpace(name[1])
	if m := commandArgs().FindStringSubmatch(text); m != nil && strings.TrimSpace(m[1]) != "" {
		line += " " + strings.TrimSpace(m[1])
	}
	return line, true
}

// localCommand is the subtype of the system records by which some commands of
// the client are told (2.1.332: /context); others are told by user records.
const localCommand = "local_command"

// Output is what a command of the client, or a "!" command of the shell, printed,
// without the client's colours. It is empty for all other records.
func (r Record) Output() (text string, shell bool) {
	if !r.isOutput() {
		return "", false
	}
	said := r.Text()
	var parts []string
	for _, m := range outputs().FindAllStringSubmatch(said, -1) {
		// The parts of the expression that did not match are empty.
		if s := strings.Trim(strings.Join(m[1:], ""), "\n"); s != "" {
			parts = append(parts, s)
		}
	}
	return ownColours().ReplaceAllString(strings.Join(parts, "\n"), ""), strings.HasPrefix(said, "<bash-")
}

// isOutput tells whether a record holds such output and nothing else.
func (r Record) isOutput() bool {
	if r.Meta || r.Side || !(r.Type == "user" && r.Origin != human || r.Type == "system" && r.Subtype == localCommand) {
		return false
	}
	text := r.Text()
	for _, tag := range ownOutput {
		if strings.HasPrefix(text, tag) && (strings.HasSuffix(text, "</"+tag[1:]) || strings.HasSuffix(text, "</bash-stderr>")) {
			return true
		}
	}
	return false
}

// ownOutput begins records in which the client puts what a command of its own,
// or a "!" shell command, printed.
var ownOutput = []string{"<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>", "<bash-stdout>", "<bash-stderr>"}

var (
	outputs = lazyRegexp(`(?s)^<local-command-stdout>(.*)</local-command-stdout>$|^<local-command-stderr>(.*)</local-command-stderr>$|` +
		`^<bash-stdout>(.*?)</bash-stdout>|<bash-stderr>(.*?)</bash-stderr>$`)
	ownColours = lazyRegexp(`\x1b\[[?]?[0-9;]*[a-zA-Z]`)
)

// Unframed is a prompt without the frames in which the client puts large pastes.
func Unframed(prompt string) string { return pasted().ReplaceAllString(prompt, "$2") }
