package setuptoken

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/creack/pty"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// Options says how the token is made.
type Options struct {
	// Program is the client; empty is `claude` on the PATH.
	Program string
	// Ask shows a person the address and asks for the code that they get there. The
	// trouble is what is wrong with the code before, in words of the client's; empty
	// at first. Its ctx ends when no code is needed any more: a browser on this
	// machine may have brought it. An error of its own ends Run with it.
	Ask func(ctx context.Context, address, trouble string) (code string, err error)
	// Start, Answer and Rest are how long the client may take to show an address, to
	// answer a code, and how long its screen has to stand still to be read; zero is
	// a minute, a minute and a second.
	Start, Answer, Rest time.Duration
}

// maxCodes is how many codes are tried.
const maxCodes = 3

// Run makes a token. Whatever way it ends, the client and what it started in its
// terminal have been ended by then. Its errors show nothing of a token or a code.
func Run(ctx context.Context, o Options) (fleet.Token, error) {
	for d, usual := range map[*time.Duration]time.Duration{&o.Start: time.Minute, &o.Answer: time.Minute, &o.Rest: time.Second} {
		if *d <= 0 {
			*d = usual
		}
	}
	if o.Program == "" {
		o.Program = "claude"
	}
	d, err := start(o.Program)
	if err != nil {
		return fleet.Token{}, fmt.Errorf("claude setup-token can't be run here: %w; install the client on this machine, or make the token elsewhere and give it to --token-stdin", err)
	}
	defer d.end()
	t, err := d.lead(ctx, o)
	if err != nil {
		return fleet.Token{}, fmt.Errorf("claude setup-token: %w", err)
	}
	return t, nil
}

// dialogue is the client on its terminal.
type dialogue struct {
	cmd    *exec.Cmd
	master *os.File
	output chan []byte // closed when the client has gone
	done   chan struct{}
	shown  screen
	gone   bool
}

// dropped are variables that would have the client refuse to start, or go by
// another login than the one that is to be made.
var dropped = []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_OAUTH_TOKEN", "TERM", "COLUMNS", "LINES"}

func start(program string) (*dialogue, error) {
	d := &dialogue{cmd: exec.Command(program, "setup-token"), output: make(chan []byte), done: make(chan struct{})}
	d.cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(dropped, name)
	}), "TERM=xterm-256color")
	var err error
	if d.master, err = pty.StartWithSize(d.cmd, &pty.Winsize{Cols: cols, Rows: rows}); err != nil {
		return nil, err
	}
	go func() {
		defer close(d.output)
		for {
			buf := make([]byte, 16<<10)
			n, err := d.master.Read(buf)
			select {
			case d.output <- buf[:n]:
			case <-d.done:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return d, nil
}

// end ends the client, with its process group, which is its terminal's, and waits
// for it and for the reader.
func (d *dialogue) end() {
	close(d.done)
	_ = syscall.Kill(-d.cmd.Process.Pid, syscall.SIGKILL)
	_ = d.cmd.Process.Kill()
	_ = d.master.Close()
	_ = d.cmd.Wait()
	for range d.output {
	}
}

var errGone = errors.New("it ended without a token")

// until reads on until what the screen says is wanted and has stood for rest, or
// the time is over.
func (d *dialogue) until(ctx context.Context, limit, rest time.Duration, wanted func(sight) bool) (sight, error) {
	late := time.NewTimer(limit)
	defer late.Stop()
	still := time.NewTimer(rest)
	defer still.Stop()
	output := d.output
	if d.gone {
		output = nil
	}
	for {
		select {
		case raw, ok := <-output:
			if !ok {
				d.gone = true
				if s := read(d.shown.text()); wanted(s) || !s.token.IsZero() {
					return s, nil
				}
				return sight{}, fmt.Errorf("%w (%s)", errGone, lastWords(d.shown.text()))
			}
			d.shown.Write(raw)
			still.Reset(rest)
		case <-still.C:
			if s := read(d.shown.text()); wanted(s) || !s.token.IsZero() {
				return s, nil
			}
			if d.gone {
				return sight{}, fmt.Errorf("%w (%s)", errGone, lastWords(d.shown.text()))
			}
		case <-late.C: // it may never stand still
			if s := read(d.shown.text()); wanted(s) || !s.token.IsZero() {
				return s, nil
			}
			return sight{}, fmt.Errorf("it showed nothing that is known in %s (%s)", limit, lastWords(d.shown.text()))
		case <-ctx.Done():
			return sight{}, context.Cause(ctx)
		}
	}
}

// lead goes through the dialogue.
func (d *dialogue) lead(ctx context.Context, o Options) (fleet.Token, error) {
	prompts := func(s sight) bool { return s.address != "" && !s.retry }
	s, err := d.until(ctx, o.Start, o.Rest, prompts)
	trouble := ""
	for tries := 0; err == nil && s.token.IsZero(); tries++ {
		if tries == maxCodes {
			return fleet.Token{}, fmt.Errorf("no code of %d was taken: %s", maxCodes, trouble)
		}
		var code string
		if code, s, err = d.code(ctx, o, s.address, trouble); err != nil || !s.token.IsZero() {
			break
		}
		if s, err = d.enter(ctx, o, code); err != nil || !s.token.IsZero() {
			break
		}
		trouble = s.trouble
		if s.retry {
			if err = d.press("\r"); err == nil {
				s, err = d.until(ctx, o.Start, o.Rest, prompts)
			}
		}
	}
	return s.token, err
}

// code asks for the code while the client goes on: it may get it by itself.
func (d *dialogue) code(ctx context.Context, o Options, address, trouble string) (string, sight, error) {
	asking, answered := context.WithCancel(ctx)
	defer answered()
	type answer struct {
		code string
		err  error
	}
	given := make(chan answer, 1)
	go func() {
		code, err := o.Ask(asking, address, trouble)
		given <- answer{code, err}
		answered()
	}()
	// A person takes as long as they take.
	s, err := d.until(asking, 24*time.Hour, o.Rest, func(sight) bool { return false })
	answered()
	a := <-given
	switch {
	case ctx.Err() != nil:
		return "", s, context.Cause(ctx)
	case err == nil: // a token
		return "", s, nil
	case errors.Is(err, errGone):
		return "", s, err
	case a.err != nil:
		return "", s, a.err
	}
	code := strings.TrimSpace(a.code)
	if code == "" || strings.ContainsFunc(code, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return "", s, errors.New("what was given is no code: it is one word")
	}
	return code, s, nil
}

// enter types the code, and Enter apart from it: together they may be taken for a
// paste. Where nothing new is said, the code before was wrong in the same way.
func (d *dialogue) enter(ctx context.Context, o Options, code string) (sight, error) {
	none := func(sight) bool { return true }
	if err := d.press(code); err != nil {
		return sight{}, err
	}
	if _, err := d.until(ctx, o.Answer, o.Rest, none); err != nil {
		return sight{}, err
	}
	if err := d.press("\r"); err != nil {
		return sight{}, err
	}
	return d.until(ctx, o.Answer, o.Rest, func(s sight) bool { return s.trouble != "" })
}

func (d *dialogue) press(keys string) error {
	if _, err := d.master.WriteString(keys); err != nil {
		return fmt.Errorf("it takes no keys: %w", errGone)
	}
	return nil
}
