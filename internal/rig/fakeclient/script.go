package fakeclient

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Script says how a fake client behaves. The zero value is a client with no
// faults. It is read when the client starts, so a new one holds from the next
// launch on.
type Script struct {
	// Turn is how long a turn takes, of which FirstToken goes by before anything
	// of its answer shows. Zero means 300 ms, and a third of it.
	Turn, FirstToken time.Duration `json:",omitempty"`
	// Answer is what every turn ends with; empty means `Done: ` and the first line
	// of the prompt.
	Answer string `json:",omitempty"`

	// DeafAfterPaste is how long Enter does nothing after the end of a paste.
	DeafAfterPaste time.Duration `json:",omitempty"`
	// DeafEnters is how often Enter does nothing while text is in the box.
	DeafEnters int `json:",omitempty"`
	// LateRedraw is how long the screen stands still after Enter was taken.
	LateRedraw time.Duration `json:",omitempty"`
	// Drop is taken out of every paste that is long enough to have it.
	Drop Span `json:",omitzero"`

	// Record says how prompts get into the conversation.
	Record Record `json:",omitzero"`

	// VimNormal starts the box in NORMAL. Whether it has a vim mode at all is, as
	// for the real client, `"editorMode": "vim"` in ~/.claude.json.
	VimNormal bool `json:",omitempty"`
	// BusyTitle turns the title's glyph while a turn runs. The real client of this
	// version does it where TERM is tmux-256color, and not where it is screen.
	BusyTitle bool `json:",omitempty"`
	// Restless is how often the footer changes while nothing happens; zero is never.
	Restless time.Duration `json:",omitempty"`

	// DeafChoices is how many keys a dialog misses before it takes one.
	DeafChoices int `json:",omitempty"`
	// DialogLate is how long at most the screen stands still behind each key that a
	// dialog has taken; each time it is another part of that.
	DialogLate time.Duration `json:",omitempty"`
	// DialogFlicker is how often a dialog is drawn anew while it is up, half of it
	// first; zero is never.
	DialogFlicker time.Duration `json:",omitempty"`

	// DeafTerm ignores SIGTERM, and TermLate is how long the end waits behind one.
	DeafTerm bool          `json:",omitempty"`
	TermLate time.Duration `json:",omitempty"`

	Faults []Fault `json:",omitempty"`

	// Setup says how `claude setup-token` goes.
	Setup Setup `json:",omitzero"`
}

// Span is a range of bytes, as in a slice expression.
type Span struct{ From, To int }

// Record says how the record of a prompt is written. What follows it in the
// conversation waits for it.
type Record struct {
	// After is how late it comes.
	After time.Duration `json:",omitempty"`
	// Torn is how long only half of it, with no line end, is there.
	Torn time.Duration `json:",omitempty"`
	// Never leaves the whole turn out of the conversation.
	Never bool `json:",omitempty"`
}

// The moments at which a Fault can come.
const (
	OnStart  = "start"  // the first screen is drawn
	OnPaste  = "paste"  // Fault.Byte bytes of a paste have come
	OnPasted = "pasted" // a paste has ended, and before what it brought is taken
	OnTaken  = "taken"  // what a paste brought is in the box
	OnEnter  = "enter"  // Enter has come, and before it is taken
	OnTurn   = "turn"   // a turn has begun
	OnIdle   = "idle"   // a turn has ended
	OnFile   = "file"   // Fault.File is there
	OnChoice = "choice" // a key has come to a dialog, and before it is taken
)

// Fault is something that goes wrong, or that a person does, at one moment.
// Where it has several actions they are taken in the order of their fields.
type Fault struct {
	On   string
	Byte int    `json:",omitempty"` // OnPaste: so many bytes of the text have come
	File string `json:",omitempty"` // OnFile: its name, see File; removed once the actions show
	Nth  int    `json:",omitempty"` // at the Nth such moment, from 1; 0 means the first
	Each bool   `json:",omitempty"` // at every such moment
	// After is how long after the moment it comes. With zero it comes before
	// anything else is done.
	After time.Duration `json:",omitempty"`

	// Dialog opens one of the dialogs that are named below, in place of one that is
	// up. About is what it asks about, in place of its usual words: a command or
	// a question; Selected is the row that is selected at first.
	Dialog   string `json:",omitempty"`
	About    string `json:",omitempty"`
	Selected int    `json:",omitempty"`
	// Survey shows the survey above the box until it is answered.
	Survey bool `json:",omitempty"`
	// Keys come as though a person pressed them: "\r" is Enter, "\x1b" Escape.
	Keys string `json:",omitempty"`
	// Stall is how long the terminal is not read: what comes waits there.
	Stall time.Duration `json:",omitempty"`
	// EndTurn ends the turn that runs.
	EndTurn bool `json:",omitempty"`
	// Kill ends the program at once, as SIGKILL does.
	Kill bool `json:",omitempty"`
}

// The dialogs that a Fault can open.
const (
	DialogPermission = "permission" // may a command run: four rows, `1. Yes` chosen
	DialogQuestion   = "question"   // a question: two answers, one to type, and a way out
	DialogBoxes      = "boxes"      // a question with boxes to tick, and then a page to review
	DialogBypass     = "bypass"     // bypassed permissions: `No, exit` ends the program
)

// folder holds the script, the log and the files of OnFile, below a home.
const folder = ".fakeclient"

// Write puts the script into a home, where the next client that starts finds it.
func (s Script) Write(home string) error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write a script for the fake client: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(home, folder), 0o700); err != nil {
		return fmt.Errorf("make the folder of the fake client: %w", err)
	}
	if err := os.WriteFile(filepath.Join(home, folder, "script.json"), raw, 0o600); err != nil {
		return fmt.Errorf("write the script of the fake client: %w", err)
	}
	return nil
}

func readScript(home string) (Script, error) {
	var s Script
	raw, err := os.ReadFile(filepath.Join(home, folder, "script.json"))
	if err != nil {
		return s, fmt.Errorf("read the script of the fake client: %w", err)
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("read the script of the fake client: %w", err)
	}
	if s.Turn <= 0 {
		s.Turn = 300 * time.Millisecond
	}
	if s.FirstToken <= 0 {
		s.FirstToken = s.Turn / 3
	}
	return s, nil
}

// File is the path of the file that a fault On OnFile waits for. Make it to
// bring the fault about; that it is gone again says that the fault shows.
func File(home, name string) string { return filepath.Join(home, folder, name) }
