package tmux

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Process is one process of a machine. Started tells it from every later one that
// gets its id, in the form of the lock's "started".
type Process struct {
	PID     int
	Started string
}

// Errors of Replace beside those of Relaunch.
var (
	// ErrAttached means: a terminal is attached to the session; nothing was done.
	ErrAttached = errors.New("a terminal is attached to the session; nothing was ended")
	// ErrDenied means: the process is another account's; nothing was done.
	ErrDenied = errors.New("the account may not end that process; nothing was ended")
	// ErrInside means: the call comes from what the process itself runs, and would end
	// with it before anything was launched; nothing was done.
	ErrInside = errors.New("the call comes from within that process; nothing was ended")
	// ErrEndures means: the process lives on behind SIGKILL; nothing was launched.
	ErrEndures = errors.New("the process does not end, not even by SIGKILL")
	// ErrStays means: the process has ended, and what it ran in goes on in the pane;
	// nothing was launched.
	ErrStays = errors.New("what it ran in goes on in the pane")
	// ErrUnlaunched means: the process has ended, and tmux did not launch the other.
	ErrUnlaunched = errors.New("the process was ended, and tmux launched nothing in its place")
)

// Identify tells when a process began that runs on the terminal of a pane. It is
// false where there is none of that id, or on another terminal. A verdict that is
// given behind it is about that process, if Replace finds the same one. beneath is
// as in Replacement.
func Identify(ctx context.Context, r Runner, pane string, pid int, beneath bool) (Process, bool, error) {
	if !validPane(pane) || pid <= 0 {
		return Process{}, false, nil
	}
	n := newNonce()
	words, err := answer(ctx, r, n, assign("nonce", n)+assign("pane", pane)+"victim="+strconv.Itoa(pid)+"\n"+assign("below", set(beneath))+holderScript+processScript+
		`place || { echo "$nonce none"; exit 0; }
since=$(started "$victim")
if [ -n "$since" ] && lives "$victim" "$since" && here "$victim"; then echo "$nonce found $since"; else echo "$nonce none"; fi
`)
	if err != nil || words[0] != "found" || len(words) < 2 {
		return Process{}, false, err
	}
	return Process{PID: pid, Started: words[1]}, true, nil
}

// Replacement says which process of a pane is to be ended, and what is to run
// there then.
type Replacement struct {
	Pane   string
	Victim Process
	// Beneath: the victim may have another terminal than the pane, if it descends
	// from the pane's first process.
	Beneath bool
	// Guard must hold where it is given.
	Guard *Guard
	// Alone: only while no terminal is attached to a session that has the pane.
	Alone bool
	// Check is sh text that prints nothing where the process is still what it was
	// judged to be; empty for none. It runs right before the signal.
	Check string
	// Holders are the processes that the victim runs in and that are no shells. They
	// mostly end with it; for one that does not, nothing is launched unless Force.
	Holders []int
	Force   bool
	// Term and Kill bound the waits behind the two signals, in whole seconds.
	Term, Kill time.Duration
	Launch     Launch
}

// set is a flag of a script.
func set(yes bool) string {
	if yes {
		return "yes"
	}
	return ""
}

// Replaced says how far Replace came.
type Replaced struct {
	// Ended: the victim has ended. Killed: it took a SIGKILL.
	Ended, Killed bool
	// Left are the names of what it had started and that runs on.
	Left []string
}

// Replace ends one process with SIGTERM, and with SIGKILL where it does not end by
// that, and launches a command in its pane. All of it is one script, which runs to
// its end and holds the pane's lock: nobody types or launches anything in between,
// and the directory is looked at before anything is ended. The process is signalled
// only if it is the one that Identify found, on the pane's terminal (see Beneath). What it
// had started is left alone if it ended by SIGTERM, and ended with it otherwise. The
// pane stays, also where the process was all that ran in it. Besides the errors
// above they are ErrChanged, ErrLocked, ErrNoSession, ErrNoDirectory,
// ErrNotInstalled, *ServerError and the runner's. Replaced is valid with each.
func Replace(ctx context.Context, r Runner, p Replacement) (Replaced, error) {
	if !validPane(p.Pane) || p.Victim.PID <= 0 || p.Victim.Started == "" {
		return Replaced{}, ErrNoSession
	}
	n := newNonce()
	var holders []string
	for _, pid := range p.Holders {
		holders = append(holders, strconv.Itoa(pid))
	}
	guard := "same() { :; }\n"
	if p.Guard != nil {
		guard = p.Guard.script()
	}
	script := p.Launch.script(n) + assign("nonce", n) + guard + assign("pane", p.Pane) +
		fmt.Sprintf("victim=%d term=%d kill=%d\n", p.Victim.PID, int(p.Term/time.Second), int(p.Kill/time.Second)) +
		assign("since", p.Victim.Started) + assign("holders", strings.Join(holders, " ")) + assign("check", p.Check) +
		assign("alone", set(p.Alone)) + assign("force", set(p.Force)) + assign("below", set(p.Beneath)) +
		holderScript + processScript + "place || { echo \"$nonce nosession\"; exit 0; }\n" + lock(n) +
		fmt.Sprintf(replaceScript, endedOption, LaunchedOption, LockOption)
	words, err := answer(ctx, r, n, script)
	if err != nil {
		return Replaced{}, err
	}
	var done Replaced
	if len(words) > 1 {
		f := strings.Fields(words[1])
		done.Ended = true
		done.Killed = f[0] == "kill"
		done.Left = f[1:]
	}
	switch words[0] {
	case "launched":
		return done, nil
	case "attached":
		return done, ErrAttached
	case "denied":
		return done, ErrDenied
	case "inside":
		return done, ErrInside
	case "endures":
		return done, ErrEndures
	case "stays":
		return done, ErrStays
	case "unlaunched":
		return done, ErrUnlaunched
	}
	_, err = launched(words[:1], nil)
	return done, err
}
