package tmux

import (
	"context"
	"fmt"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// Runner carries a script to the machine of a tmux server. A transport.Conn is
// one.
type Runner interface {
	Run(ctx context.Context, s transport.Script) (transport.Result, error)
}

// answer runs a script that changes something, so never twice, and returns the
// words of the last record that it printed: "NONCE word…".
func answer(ctx context.Context, r Runner, nonce, script string) ([]string, error) {
	res, err := r.Run(ctx, transport.Script{Text: script, Finish: true})
	if err != nil {
		return nil, err
	}
	var words []string
	for line := range strings.Lines(string(res.Stdout)) {
		if rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), nonce+" "); ok {
			words = strings.SplitN(rest, " ", 2)
		}
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("the script gave no answer (exit %d): %s", res.ExitCode, transport.Neutralise(string(res.Stderr)))
	}
	if words[0] == "failed" {
		text := strings.TrimSpace(strings.Join(words[1:], " ") + " " + string(res.Stderr))
		return nil, &ServerError{Text: text}
	}
	return words, nil
}

// assign sets a shell variable to text. No here-document: dash loses bytes of
// one (see transport.Quote), and it would end in a line feed.
func assign(variable, text string) string {
	return variable + "=" + transport.Quote(text) + "\n"
}

// validPane is whether id has the form of a pane's id, as it must before it
// stands within a command that tmux parses.
func validPane(id string) bool {
	digits, ok := strings.CutPrefix(id, "%")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// DirWord is a directory as one sh word. A leading ~ is the home directory of
// the account that the script runs as.
func DirWord(dir string) string {
	if dir == "~" {
		return `"$HOME"`
	}
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		return `"$HOME"/` + transport.Quote(rest)
	}
	return transport.Quote(dir)
}
