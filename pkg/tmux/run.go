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
	res, err := r.Run(ctx, transport.Script{Text: script})
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

// hereDoc assigns text to a shell variable whatever is in it but NUL, without
// any of it reaching an argument list. The dot keeps the trailing newlines
// that a command substitution would strip.
func hereDoc(variable, nonce, text string) string {
	return fmt.Sprintf("%s=$(cat <<'%s'\n%s.\n%s\n); %s=${%s%%.}\n", variable, nonce, text, nonce, variable, variable)
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
