package fakeclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// What an Event tells. The text is in Event.Text.
const (
	Started     = "started"      // the first screen is drawn
	Key         = "key"          // a key, by tmux's name for it, or text that came unframed
	Paste       = "paste"        // the text of a paste, whole, as it came
	Burst       = "burst"        // much text that came unframed at once, and is taken as a paste
	EnterDeaf   = "enter-deaf"   // an Enter that the script made the client miss
	Submitted   = "submitted"    // a prompt that began a turn
	Queued      = "queued"       // a prompt that waits for the turn's end
	Unqueued    = "unqueued"     // what was waiting is back in the box
	Interrupted = "interrupted"  // the turn of this prompt was broken off
	Ended       = "ended"        // the turn of this prompt ended
	Opened      = "opened"       // a dialog, by its name
	DialogKey   = "dialog-key"   // a key or text that a dialog got
	DialogPaste = "dialog-paste" // a paste that a dialog got
	DialogDeaf  = "dialog-deaf"  // a key that the script made a dialog miss
	Answered    = "answered"     // the label of the row that was chosen in a dialog, or what was typed there
	Cancelled   = "cancelled"    // a dialog, by its name
	Ticked      = "ticked"       // the label of a row whose box was ticked, or unticked
	Surveyed    = "surveyed"     // the survey shows
	Rated       = "rated"        // the digit that answered the survey
	Stashed     = "stashed"      // a draft was put aside
	Unstashed   = "unstashed"    // and came back
	Cleared     = "cleared"      // a draft was dropped
	Stalled     = "stalled"      // the terminal is not read
	Killed      = "killed"       // the program ends as SIGKILL ends it
	Terminated  = "terminated"   // a SIGTERM has come
	Exited      = "exited"       // the program ends in order
	Resized     = "resized"      // the terminal has a new size: columns, x, rows
	Failed      = "failed"       // a file could not be written
)

// Event is something that a fake client received or did.
type Event struct {
	At   time.Time
	PID  int
	What string
	Text string `json:",omitempty"`
}

// String is the event on one line, for a test's log.
func (e Event) String() string {
	text := e.Text
	if len(text) > 100 {
		text = fmt.Sprintf("%s… (%d bytes)", text[:100], len(text))
	}
	return fmt.Sprintf("%s %s %q", e.At.Format("15:04:05.000"), e.What, text)
}

func logPath(home string) string { return filepath.Join(home, folder, "log.jsonl") }

// ReadLog is all that the fake clients of a home have received and done so far,
// oldest first; none when no client has started. A line that is being written
// is left out.
func ReadLog(home string) ([]Event, error) {
	raw, err := os.ReadFile(logPath(home))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the log of the fake client: %w", err)
	}
	var events []Event
	for line := range strings.Lines(string(raw)) {
		if !strings.HasSuffix(line, "\n") {
			break
		}
		var e Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return events, fmt.Errorf("read the log of the fake client: %w", err)
		}
		events = append(events, e)
	}
	return events, nil
}

// Texts are the texts of the events of one kind, oldest first.
func Texts(events []Event, what string) []string {
	var texts []string
	for _, e := range events {
		if e.What == what {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

// logger appends events. Its methods may be called from several goroutines.
type logger struct {
	mu sync.Mutex
	f  *os.File
}

func openLog(home string) (*logger, error) {
	f, err := os.OpenFile(logPath(home), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of the fake client: %w", err)
	}
	return &logger{f: f}, nil
}

// add writes one event in one write, so that those of two clients do not mix.
// What can't be logged can't be told either.
func (l *logger) add(what, text string) {
	raw, err := json.Marshal(Event{At: time.Now(), PID: os.Getpid(), What: what, Text: text})
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.f.Write(append(raw, '\n'))
}
