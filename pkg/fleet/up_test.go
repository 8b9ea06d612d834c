package fleet

import (
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/detect"
	"github.com/claude-fleet/claude-fleet/pkg/transcript"
)

// TestStartAnswer holds the one list of dialogs that up may answer.
func TestStartAnswer(t *testing.T) {
	const bypass = "WARNING: Claude Code running in Bypass Permissions mode"
	for _, c := range []struct {
		name   string
		dialog *detect.Dialog
		screen string
		want   string // the dialog's name; "" for not to be answered
		option int
	}{
		{"trust, unnumbered, the way out preselected", &detect.Dialog{Title: "Accessing workspace:", Options: []string{"No, exit", "Yes, I trust this folder"}, Selected: 0}, "", "trust", 1},
		{"trust, the other order", &detect.Dialog{Title: "Do you trust the files in this folder?", Options: []string{"Yes, proceed", "No, exit"}, Selected: 0}, "", "trust", 0},
		{"bypass, said on the screen", &detect.Dialog{Options: []string{"No, exit", "Yes, I accept"}, Selected: 1}, bypass, "bypass", 1},
		{"the labels alone are not the dialog", &detect.Dialog{Title: "Buy more?", Options: []string{"No, exit", "Yes, I accept"}, Selected: 0}, "", "", 0},
		{"the dialog without the label", &detect.Dialog{Title: bypass, Options: []string{"No, exit", "Yes"}, Selected: 0}, "", "", 0},
		{"cut off: only one option shows", &detect.Dialog{Title: bypass, Options: []string{"No, exit"}, Selected: 0}, "", "", 0},
		{"cut off: the way out does not show", &detect.Dialog{Title: bypass, Options: []string{"Yes, I accept", "other"}, Selected: 0}, "", "", 0},
		{"nothing selected", &detect.Dialog{Title: bypass, Options: []string{"No, exit", "Yes, I accept"}, Selected: -1}, "", "", 0},
		{"a permission dialog", &detect.Dialog{Title: "Bash command", Options: []string{"Yes", "No"}, Selected: 0}, "do you trust", "", 0},
		{"no dialog", nil, bypass, "", 0},
	} {
		name, option, ok := startAnswer(c.dialog, c.screen)
		if name != c.want || ok != (c.want != "") || ok && option != c.option {
			t.Errorf("%s: %q option %d %v", c.name, name, option, ok)
		}
	}
}

func TestResuming(t *testing.T) {
	const id = "3327b6b4-0821-4b0c-a9d2-244d02bb99c4"
	for _, c := range []struct{ command, want string }{
		{"claude --dangerously-skip-permissions", "claude --dangerously-skip-permissions --resume " + id},
		{"FOO=1 /opt/bin/claude", "FOO=1 /opt/bin/claude --resume " + id},
		// What names a conversation itself, or is more than one call of the
		// client, is run as it stands.
		{"claude --continue", "claude --continue"},
		{"claude --session-id=x", "claude --session-id=x"},
		{"docker exec -it box claude", "docker exec -it box claude"},
		{"nvm use 22 && claude", "nvm use 22 && claude"},
		{"claude; echo done", "claude; echo done"},
		{"", ""},
	} {
		if got := resuming(c.command, id); got != c.want {
			t.Errorf("%q: %q, want %q", c.command, got, c.want)
		}
	}
	if got := resuming("claude", ""); got != "claude" {
		t.Errorf("no conversation: %q", got)
	}
}

func TestPickConversation(t *testing.T) {
	at := time.Unix(1_795_973_852, 0)
	dead := func(id, pane, dir string, age time.Duration) transcript.Session {
		return transcript.Session{ID: id, Pane: pane, Dir: dir, Since: at.Add(-age)}
	}
	alive := func(id string) transcript.Session { return transcript.Session{ID: id, Dir: "/srv", Alive: true} }
	for _, c := range []struct {
		name     string
		sessions []transcript.Session
		past     []string
		want     string
	}{
		{"none", nil, nil, ""},
		{"the newest of the directory", nil, []string{"b", "a"}, "b"},
		{"the one of this pane, though another is newer", []transcript.Session{dead("a", "%1", "/srv", time.Hour)}, []string{"b", "a"}, "a"},
		{"the later of two in this pane", []transcript.Session{dead("a", "%1", "/srv", time.Hour), dead("b", "%1", "/srv", time.Minute)}, []string{"b", "a"}, "b"},
		{"another pane's is no better than the newest", []transcript.Session{dead("a", "%2", "/srv", 0)}, []string{"b", "a"}, "b"},
		{"another directory's does not count", []transcript.Session{dead("x", "%1", "/other", 0)}, []string{"a"}, "a"},
		{"one that a client has open is not taken from it", []transcript.Session{alive("b")}, []string{"b", "a"}, "a"},
		{"all taken", []transcript.Session{alive("a")}, []string{"a"}, ""},
		{"one without a transcript can't be resumed", []transcript.Session{dead("gone", "%1", "/srv", 0)}, []string{"a"}, "a"},
	} {
		if got := pickConversation(c.sessions, c.past, whose{dir: "/srv", pane: "%1", alone: true}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	// Two hosts in one directory: what the pane knows decides, and nothing else.
	shared := whose{dir: "/srv", pane: "%1"}
	if got := pickConversation(nil, []string{"b", "a"}, shared); got != "" {
		t.Errorf("the newest of a shared directory: %q", got)
	}
	if got := pickConversation([]transcript.Session{dead("a", "%1", "/srv", 0)}, []string{"b", "a"}, shared); got != "a" {
		t.Errorf("this pane's of a shared directory: %q", got)
	}
	shared.note = "a"
	if got := pickConversation(nil, []string{"b", "a"}, shared); got != "a" {
		t.Errorf("the noted one: %q", got)
	}
	if got := pickConversation([]transcript.Session{alive("a")}, []string{"b", "a"}, shared); got != "" {
		t.Errorf("the noted one, which another has open: %q", got)
	}
	shared.note = "$(touch x)"
	if got := pickConversation(nil, []string{"b", "a"}, shared); got != "" {
		t.Errorf("a note that is no conversation: %q", got)
	}
}
