package fleet_test

import (
	"fmt"

	"github.com/claude-fleet/claude-fleet/internal/rig/rigtest"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// bypassing runs the client and leaves a shell behind it.
const bypassing = "claude --dangerously-skip-permissions; exec sh"

// turns is the way from nothing through the start-up dialogs and the states of a
// turn, at 120x40.
func turns() []step {
	return []step{
		{name: "no tmux server", state: detect.Down, rule: "no-server"},
		{name: "a server without the session", do: func(p person) { p.opens("claude-2", 80, 24, "exec sh") },
			state: detect.Down, rule: "no-session"},
		{name: "trust", do: func(p person) { p.opens("claude", 120, 40, bypassing) },
			state: detect.Gate, title: "Accessing workspace", options: "*No, exit | Yes, I trust this folder"},
		{name: "bypass", do: func(p person) { p.picks("Yes, I trust") },
			state: detect.Gate, title: "Bypass Permissions mode", options: "*No, exit | Yes, I accept"},
		{name: "the first box", do: func(p person) { p.picks("Yes, I accept") }, state: detect.Ready, send: true},

		{name: "a draft", do: func(p person) { p.types("❯\u00a0", "half a thought") }, state: detect.Ready, draft: "half a thought", flags: "draft"},
		{name: "a lone slash", do: func(p person) { p.keys("C-u"); p.types("❯\u00a0", "/") }, state: detect.Ready, draft: "/", flags: "draft"},
		{name: "shell mode", do: func(p person) { p.keys("BSpace", "!"); p.shows("shell mode") }, state: detect.Ready, draft: "!", flags: "draft"},
		{name: "the box cleared", do: func(p person) { p.keys("BSpace") }, state: detect.Ready},

		{name: "before the first token", do: func(p person) { p.submits("WAIT alpha-1"); p.holding("alpha-1") }, state: detect.Busy},
		{name: "after the wait", do: func(p person) { p.r.API().Release("alpha-1"); p.shows("Done: WAIT") }, state: detect.Ready},
		{name: "text streams", do: func(p person) { p.submits("HOLD alpha-2"); p.shows("Holding alpha-2") }, state: detect.Busy},
		{name: "a prompt is queued", do: func(p person) { p.submits("SAY queued"); p.shows("edit queued messages") }, state: detect.Busy},
		{name: "after the queue", do: func(p person) { p.r.API().Release("alpha-2"); p.shows("● queued") }, state: detect.Ready},
		{name: "a tool runs", do: func(p person) { p.submits("TOOL tail -f /dev/null"); p.shows("Running") }, state: detect.Busy},
		{name: "the tool is stopped", do: func(p person) { p.keys("Escape"); p.shows("Interrupted") }, state: detect.Ready},
		{name: "overloaded", do: func(p person) { p.submits("ERR 529"); p.shows("retrying in") }, state: detect.Busy, retry: "529 overloaded_error"},
		{name: "interrupted", do: func(p person) { p.keys("Escape") }, state: detect.Ready, draft: "ERR 529", flags: "draft"},

		// Copy mode changes nothing about the client, and send leaves it.
		{name: "copy mode", do: func(p person) { p.keys("C-u"); p.tmux("copy-mode", "-t", "=claude:") }, state: detect.Ready, send: true},
	}
}

// refusals is the way through the dialogs and what the service refuses, in a
// session that asks for permission, at 80x24 and in another zone than ours.
func refusals() []step {
	return []step{
		{name: "manual mode", do: func(p person) { p.opens("claude", 80, 24, "claude --permission-mode manual; exec sh") }, state: detect.Ready, send: true},
		{name: "permission for a command", do: func(p person) { p.submits("TOOL touch made") },
			state: detect.Gate, title: "Bash command", options: "*Yes | Yes, and always allow access to {workdir} from this project | Yes, and switch to auto mode · auto mode handles these prompts for you | No"},
		{name: "no command", do: func(p person) { p.keys("Escape"); p.shows("Interrupted") }, state: detect.Ready},
		{name: "permission for a file", do: func(p person) { p.submits("WRITE made.txt") },
			state: detect.Gate, title: "Create file", options: "*Yes | Yes, and switch to accept edits (auto-approve file edits and common file commands) for this session (shift+tab) | No"},
		{name: "no file", do: func(p person) { p.keys("Escape") }, state: detect.Ready},

		{name: "a question", do: func(p person) { p.submits("ASK") },
			state: detect.Gate, title: "Database", options: "*SQLite | Postgres | Type something. | Chat about this"},
		{name: "the second choice", do: func(p person) { p.keys("Down") },
			state: detect.Gate, title: "Database", options: "SQLite | *Postgres | Type something. | Chat about this"},
		{name: "declined", do: func(p person) { p.keys("Escape"); p.shows("Declined") }, state: detect.Ready},
		{name: "the transcript viewer", do: func(p person) { p.keys("C-o") }, state: detect.Unknown, rule: "viewer.transcript"},
		{name: "back from the viewer", do: func(p person) { p.keys("C-o") }, state: detect.Ready},

		{name: "a bad request", do: func(p person) { p.submits("ERR 400"); p.shows("API Error: 400") }, state: detect.Ready},
		{name: "credentials refused", do: func(p person) { p.submits("ERR 401"); p.shows("API Error: 401") }, state: detect.Unauth},
		{name: "credentials mended", do: func(p person) { p.submits("SAY mended"); p.shows("● mended") }, state: detect.Ready, send: true},
		{name: "a usage limit", do: func(p person) { p.submits("LIMIT 5400"); p.shows("Usage limit reached") },
			state: detect.Limited, limit: "LIMIT 5400", auto: true},
		{name: "the wait cancelled", do: func(p person) { p.keys("Escape"); p.shows("cancelled") },
			state: detect.Limited, limit: "LIMIT 5400"},

		{name: "the client left", do: func(p person) { p.submits("/exit") }, state: detect.Crashed},
		{name: "plan mode", do: func(p person) { p.runs("claude --permission-mode plan") }, state: detect.Ready},
		{name: "a plan", do: func(p person) { p.submits("PLAN") },
			state: detect.Gate, title: "Exit plan mode", options: "*Yes, and switch to default (ask each time) for this session | No"},
	}
}

// ends is the way through what becomes of a client in a person's own shell, and
// of its machine, at 60x20.
func ends() []step {
	return []step{
		{name: "a shell", do: func(p person) { p.opens("claude", 60, 20, "exec bash --norc"); p.shows("bash") }, state: detect.Crashed},
		{name: "a client by hand", do: func(p person) { p.runs("claude --dangerously-skip-permissions") }, state: detect.Ready, send: true},
		{name: "a turn", do: func(p person) { p.submits("HOLD gamma-1"); p.shows("Holding") }, state: detect.Busy},
		{name: "suspended", do: func(p person) { p.keys("C-z"); p.shows("suspended") }, state: detect.Crashed},
		{name: "in front again", do: func(p person) { p.keys("f", "g", "Enter") }, state: detect.Busy},
		{name: "the turn done", do: func(p person) { p.r.API().Release("gamma-1"); p.shows("Done: HOLD") }, state: detect.Ready},
		{name: "another turn", do: func(p person) { p.submits("TOOL tail -f /dev/null"); p.shows("Running") }, state: detect.Busy},
		{name: "killed", do: func(p person) { p.kill() }, state: detect.Crashed},

		// Nothing on the screen tells that nobody is logged in until it is tried.
		{name: "nobody logged in", do: func(p person) { p.keys("C-l"); p.runs("env -u CLAUDE_CODE_OAUTH_TOKEN claude") }, state: detect.Ready},
		{name: "tried all the same", do: func(p person) { p.submits("SAY hello"); p.shows("Not logged in") }, state: detect.Unauth},

		{name: "a frozen machine", do: func(p person) { must(p, p.h.FreezeSSHD()) }, state: detect.Unreachable, impatient: true},
		{name: "a machine that thawed", do: func(p person) { must(p, p.h.ThawSSHD()) }, state: detect.Unauth},
	}
}

// holding waits until a turn is held at a name.
func (p person) holding(name string) {
	p.t.Helper()
	rigtest.Eventually(p.t, drawn, "a turn to wait at "+name, func() (bool, string) {
		n := p.r.API().Holding(name)
		return n == 1, fmt.Sprint(n)
	})
}

func must(p person, err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}
