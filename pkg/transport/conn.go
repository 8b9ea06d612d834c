package transport

import (
	"context"
	"io"
	"os"
)

// Script is POSIX sh text and what is known of it.
type Script struct {
	// Text runs under /bin/sh, in the account's home directory, with the usual
	// places of user-installed programs appended to PATH and an empty standard
	// input. It must hold no NUL. It reaches no argument list (save in Attach),
	// so quoted text in it may be secret.
	Text string
	// Prelude is sh text that goes before Text. It only defines functions for it,
	// under names that no other prelude has and that do not begin with fleet_loop, and holds no secret: a shell that runs
	// several scripts, see Repeatable, is given the same prelude once.
	Prelude string
	// Repeatable is whether it does no harm to run Text twice. If the
	// connection, or its shell, dies under it, it is then run once more, silently.
	// Where such scripts follow each other, one shell process may run them, each in
	// a subshell: $$ is then the same for all. Such a script must leave nothing
	// running that holds its output: what that prints shows in the output of the
	// next, and it may be ended with it.
	Repeatable bool
	// Alone is whether Text has a shell of its own even so: for one that starts
	// programs which may leave something running, a login shell among them, or that
	// holds a secret, which the memory of a shell that stays would keep.
	Alone bool
	// Finish is whether Text, once it has begun, is to run to its end even if
	// the caller goes: killed, cut off or out of time. That is for work which
	// must not be left half done, and which ends by itself: the host gives it a
	// minute, where it ends other scripts at once.
	Finish bool
}

// Result is what a script left behind.
type Result struct {
	// Stdout and Stderr are exact to the byte, without what start-up files of
	// the login shell printed. They are hostile text: see Neutralise.
	Stdout, Stderr []byte
	// ExitCode is as sh has it: 128 and more for a signal.
	ExitCode int
}

// Conn runs scripts on one endpoint. It is safe for concurrent use.
type Conn interface {
	// Run runs s and returns when it has ended, even where it left background
	// processes that hold its output open. A non-zero exit is no error. When
	// ctx ends, Run returns at once and the script is ended behind it, unless
	// it is to finish: its process group gets TERM, and KILL a second later. The host itself does the
	// same when this process dies or the connection breaks; one that merely falls
	// silent it notices when its sshd does (ClientAliveInterval, TCPKeepAlive),
	// or when we come back over another. What a script that has ended left in
	// the background goes on; what a repeatable one left may be ended with a later
	// one, whose process group may be the same. Standard output and standard error may hold 32 MiB
	// each. Errors are *Error.
	Run(ctx context.Context, s Script) (Result, error)

	// Attach runs s on the terminal t until it ends, and gives its exit code.
	// s must be shorter than 16 KiB, shows in the host's process list, and is
	// never run again. When ctx ends, the terminal's command is hung up.
	// Errors are *Error.
	Attach(ctx context.Context, s Script, t Terminal) (exitCode int, err error)
}

// Size is that of a terminal, in character cells.
type Size struct{ Cols, Rows int }

// Terminal is what Attach connects a remote command to: plain streams. Raw
// mode, and leaving it, is the caller's.
type Terminal struct {
	// In is read until the command ends; nil is a keyboard that nobody touches.
	// Its end is the terminal's: the command is hung up, which detaches a tmux
	// client (a Ctrl-D would reach what runs in the pane), and the exit code is
	// 129. Nothing more is read from it after
	// that if it is an *os.File or has SetReadDeadline; a Read of any other
	// reader that is under way then ends only by itself.
	In  io.Reader
	Out io.Writer
	// Term is the value of TERM; empty means xterm-256color, which also stands
	// in for a TERM that the host has no terminfo entry of.
	Term string
	// Size is the first size; zero means 80 by 24.
	Size Size
	// Resize carries each new size. It may be nil; Attach does not close it.
	Resize <-chan Size
	// File is the terminal device itself where In and Out are one. The local
	// transport hands it to the command and uses In, Out, Size and Resize only
	// without it.
	File *os.File
}

// withDefaults fills in what the caller left out.
func (t Terminal) withDefaults() Terminal {
	if t.Term == "" {
		t.Term = "xterm-256color"
	}
	if t.Size.Cols <= 0 || t.Size.Rows <= 0 {
		t.Size = Size{Cols: 80, Rows: 24}
	}
	return t
}
