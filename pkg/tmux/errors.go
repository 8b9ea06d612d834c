package tmux

import (
	"errors"
	"fmt"
)

var (
	// ErrNotInstalled means: the machine has no tmux on its PATH.
	ErrNotInstalled = errors.New("tmux is not installed there, or not on the PATH; install it and try again")
	// ErrNoDirectory means: the directory that a session was to start in is missing.
	// tmux itself would start it in the home directory instead.
	ErrNoDirectory = errors.New("the directory does not exist there")
	// ErrChanged means: the pane no longer showed what was judged; nothing was typed.
	ErrChanged = errors.New("the screen changed after it was judged; nothing was typed")
	// ErrLocked means: another sender holds the pane; nothing was typed.
	ErrLocked = errors.New("somebody else is sending to this pane right now; nothing was typed")
	// ErrClaimed means: the journal says that the text may have been typed before;
	// nothing was typed.
	ErrClaimed = errors.New("an earlier attempt of that id may have typed it; nothing was typed")
	// ErrJournal means: the journal could not be written; nothing was typed.
	ErrJournal = errors.New("what is done there can't be written down first (a full disk, a folder that is not to be written in, or something that is no plain file in its place); nothing was typed")
	// ErrLeft means: what stood in the input line could not be taken out, or not
	// all of it.
	ErrLeft = errors.New("what is in the input line could not be taken out")
	// ErrVanished means: a new session was gone at once, as with a command that
	// could not run.
	ErrVanished = errors.New("the session was gone as soon as it was made; start one there by hand and see: tmux new-session")
	// ErrUnattached means: a new session was gone at once, because the tmux there is
	// set to end a session that no terminal is attached to.
	ErrUnattached = errors.New("destroy-unattached is on in the tmux.conf there, which ends a session that no terminal is attached to")
	// ErrClockSet means: the machine's clock was set back since it was last looked at,
	// so that screens which were known then may be others. A query without
	// Query.Unchanged tells them.
	ErrClockSet = errors.New("the clock there was set back while it was looked at; look again")
	// ErrNoSession means: there is no session or pane of that name.
	ErrNoSession = errors.New("no such tmux session")
)

// ServerError is what tmux itself said when it refused a command. Text comes
// from the machine and is not neutralised.
type ServerError struct{ Text string }

// Error is one line; what tmux said is in it as it came.
func (e *ServerError) Error() string { return fmt.Sprintf("tmux says: %s", e.Text) }
