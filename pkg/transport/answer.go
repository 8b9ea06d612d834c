package transport

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// whole is the script for a shell that runs no other.
func (s Script) whole() string {
	if s.Prelude == "" {
		return s.Text
	}
	return s.Prelude + "\n" + s.Text
}

// checkScript refuses what no shell could be given.
func checkScript(e Endpoint, s Script) *Error {
	if strings.ContainsRune(s.whole(), 0) {
		return &Error{Kind: KindConfig, Endpoint: e, Err: errors.New("the script holds a NUL byte, which sh has no way to take"),
			Hint: "leave the NUL out, or let printf make it on the host"}
	}
	return nil
}

// frames is what one run of a script answers: both streams in their frames.
type frames struct {
	nonce          string
	stdout, stderr *frameReader
	// settled is closed when both frames are complete, or one has failed:
	// nothing that follows can change the answer.
	settled chan struct{}
	// printed is closed when that of standard output is complete or has failed.
	printed chan struct{}
	// fed is closed when all of the script was sent.
	fed chan struct{}
}

func newFrames() *frames {
	f := &frames{nonce: newNonce(), settled: make(chan struct{}), printed: make(chan struct{}), fed: make(chan struct{})}
	var mu sync.Mutex
	open := 2
	settle := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if open--; open == 0 || open == 1 && err != nil {
			close(f.settled)
			open = 0
		}
	}
	f.stdout = newFrameReader(f.nonce, func(err error) { close(f.printed); settle(err) })
	f.stderr = newFrameReader(f.nonce, settle)
	return f
}

// begun is whether the script is known to have started.
func (f *frames) begun() bool { return f.stdout.state().begun || f.stderr.state().begun }

// run is where the script runs; zero values as long as it is not known.
func (f *frames) run() runID {
	if id := f.stdout.id(); id.known() {
		return id
	}
	return f.stderr.id()
}

// outputHint goes with output that can't be taken.
const outputHint = "let the script print less, or leave its output in a file on the host; see also what a start-up file of the login shell prints"

// answer makes a Result of the streams once they are settled or the script is
// over. ended is how it was over, for the error when the frame is missing.
func (f *frames) answer(e Endpoint, ended error) (Result, *Error) {
	out, errs := f.stdout.state(), f.stderr.state()
	started := out.begun || errs.begun
	switch {
	case out.err != nil:
		return Result{}, &Error{Kind: KindProtocol, Endpoint: e, Started: started, Err: fmt.Errorf("standard output: %w", out.err), Hint: outputHint}
	case errs.err != nil:
		return Result{}, &Error{Kind: KindProtocol, Endpoint: e, Started: started, Err: fmt.Errorf("standard error: %w", errs.err), Hint: outputHint}
	case out.done:
		// Standard error may lack its closing mark, if a forced command joins
		// the streams or drops one. The answer is whole all the same.
		return Result{Stdout: out.body, Stderr: errs.body, ExitCode: out.code}, nil
	}
	what := "the script's answer has no frame"
	if started {
		what = "the script's answer broke off"
	}
	if ended != nil {
		what += ": " + Neutralise(ended.Error())
	}
	if s := excerpt(out.seen, 200); s != "" && !out.begun {
		what += fmt.Sprintf("; standard output was %q", s)
	}
	if s := excerpt(slices.Concat(errs.seen, errs.body), 400); s != "" {
		what += fmt.Sprintf("; standard error was %q", s)
	}
	return Result{}, &Error{
		Kind: KindProtocol, Endpoint: e, Started: started, Err: errors.New(what),
		Hint: "the account must run commands with /bin/sh: see whether it has a forced command, a login shell that is not one, or a start-up file that exits",
	}
}
