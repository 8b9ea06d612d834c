package fleet_test

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/claude-fleet/claude-fleet/pkg/fleet"
)

// pick chooses a label, and sure one that needs to be confirmed.
func pick(label string) fleet.AnswerOptions { return fleet.AnswerOptions{Label: label} }
func sure(label string) fleet.AnswerOptions { return fleet.AnswerOptions{Label: label, Yes: true} }
func typed(text string) fleet.AnswerOptions { return fleet.AnswerOptions{Text: text} }

// refuses are answers that are refused.
func refuses(o ...fleet.AnswerOptions) []fleet.AnswerOptions { return o }

// startScenes are those of a first start in a folder with an MCP server of its own.
var startScenes = []scene{
	{
		name: "trust", options: "*No, exit | Yes, I trust this folder", asks: "Is this a project you created",
		refused: refuses(pick("No, exit"), pick("Maybe")),
		o:       pick("Yes, I trust this folder"), want: fleet.AnswerFollowed,
	},
	{
		name: "an MCP server", options: "Use this MCP server | Use this and all future MCP servers in this project | *Continue without using this MCP server",
		asks:    "New MCP server found in this project: notes",
		refused: refuses(pick("Use this"), pick("Use this and all future MCP servers in this project")),
		o:       pick("Use this MCP server"), want: fleet.AnswerGiven,
		effect: has(".claude/settings.local.json", `"enabledMcpjsonServers"`),
	},
}

const (
	bashOptions  = "*Yes | Yes, and always allow access to {workdir} from this project | Yes, and switch to auto mode · auto mode handles these prompts for you | No"
	writeOptions = "*Yes | Yes, and switch to accept edits (auto-approve file edits and common file commands) for this session (shift+tab) | No"
)

// permissionScenes ask whether a tool may be used.
var permissionScenes = []scene{
	{
		name: "no command", do: asking("TOOL touch made"), options: bashOptions, asks: "touch made Do you want to proceed?",
		refused: refuses(pick("Yes,"), pick("Yes, and switch"), fleet.AnswerOptions{Label: "No", Text: "rather not"}),
		o:       pick("No"), want: fleet.AnswerGiven, shows: "Interrupted", effect: lacks("made", ""),
	},
	{
		name: "a command", do: asking("TOOL touch made"), options: bashOptions,
		o: pick("Yes"), want: fleet.AnswerGiven, told: "Bash completed", effect: has("made", ""),
	},
	{
		name: "a long file", do: asking("WRITE long.txt 60"), options: writeOptions, asks: "60 written by the script Do you want to create long.txt?",
		refused: refuses(pick("Yes, and")),
		o:       pick("Yes"), want: fleet.AnswerGiven, effect: has("long.txt", strings.Repeat("written by the script\n", 60)),
	},
	{
		name: "an edit", do: asking("WRITE long.txt 2"), options: writeOptions, asks: "long.txt",
		o: pick("Yes"), want: fleet.AnswerGiven, effect: lacks("long.txt", strings.Repeat("written by the script\n", 3)),
	},
	{
		name: "no page", do: asking("FETCH http://127.0.0.1:1/x"), asks: "Do you want to allow Claude to fetch this content?",
		options: "*Yes | Yes, and don't ask again for 127.0.0.1 | No, and tell Claude what to do differently (esc)",
		o:       pick("No, and tell Claude what to do differently (esc)"), want: fleet.AnswerGiven, shows: "Interrupted",
	},
	{
		name: "a tool of an MCP server", do: asking("CALL mcp__notes__list"), asks: "Do you want to proceed?",
		options: "*Yes | Yes, and don't ask again for notes — List commands in {workdir} | No",
		others:  map[string]string{"gamma": "*Yes | No"},
		o:       pick("Yes"), want: fleet.AnswerGiven, told: "three notes",
	},
}

const databases = "*SQLite | Postgres | Type something. | Chat about this"

// questionScenes are what a model asks.
var questionScenes = []scene{
	{
		name: "a question", do: asking("ASK"), options: databases, asks: "Which database should it use?",
		refused: refuses(pick("Type something."), fleet.AnswerOptions{Label: "Postgres", Text: "but why"}),
		o:       pick("Postgres"), want: fleet.AnswerGiven, told: `="Postgres"`,
	},
	{
		name: "a question, in other words", do: asking("ASK"), options: databases,
		o: typed("neither of the two; rather one that takes more words to say than a narrow pane is wide, 日本語"), want: fleet.AnswerGiven,
		told: `="neither of the two; rather one that takes more words to say than a narrow pane is wide, 日本語"`,
	},
	{
		name: "a long question", do: asking("ASK LONG"), asks: "in use?",
		options: "*Roll out to every machine at once | Roll out to every machine that is idle, and to the others in the night of the same day | Roll out in stages | Wait | Type something. | Chat about this",
		refused: refuses(pick("Roll out to every machine")),
		o:       typed("when I say so"), want: fleet.AnswerGiven, told: `="when I say so"`,
	},
	{
		name: "the first of two questions", do: asking("ASK MANY"), options: databases,
		o: pick("Postgres"), want: fleet.AnswerFollowed,
	},
	{
		name: "the second of two questions", options: "*[ ] Search | [ ] Export | [ ] Type something | Submit | Chat about this",
		o: pick("Export"), want: fleet.AnswerTicked,
	},
	{
		name: "a box to type in", options: "[ ] Search | *[x] Export | [ ] Type something | Submit | Chat about this",
		o: typed("a third"), want: fleet.AnswerTicked,
	},
	{
		name: "the ticked boxes", options: "[ ] Search | [x] Export | *[x] a third | Submit | Chat about this",
		o: pick("Submit"), want: fleet.AnswerFollowed,
	},
	{
		name: "the review", options: "*Submit answers | Cancel", asks: "a third",
		o: pick("Submit answers"), want: fleet.AnswerGiven, told: `"Export, a third"`,
	},
}

// planScenes have a plan approved, in a client of its own.
var planScenes = []scene{
	{
		name: "a plan", do: starting("claude --permission-mode plan; exec sh", "PLAN"), asks: "Exit plan mode?",
		options: "*Yes, and switch to default (ask each time) for this session | No",
		o:       pick("Yes, and switch to default (ask each time) for this session"), want: fleet.AnswerGiven, told: "approved", shows: "manual mode on",
	},
}

// panelScenes are the client's own panels.
var panelScenes = []scene{
	{
		name: "back in the conversation", do: func(l liveAnswers) { l.idle(); l.keys("Escape", "Escape") }, asks: "Restore the code and/or conversation",
		options: "PLAN | *(current)",
		refused: refuses(pick("PLAN")),
		o:       sure("PLAN"), want: fleet.AnswerFollowed,
	},
	{
		name: "not back", panel: "Restore to the point before you sent", refused: refuses(sure("Restore conversation"), pick("Never mind")),
		effect: func(l liveAnswers) (bool, string) {
			l.shows("(current)") // the list before it
			l.keys("Escape")
			return true, ""
		},
	},
	{name: "another conversation", do: asking("/resume"), panel: "Resume session", refused: refuses(pick("TOOL touch made"))},
	{
		name: "the theme", do: asking("/theme"), asks: "Choose the text style",
		options: "Auto (match terminal) | *Dark mode | Light mode | Dark mode (colorblind-friendly) | Light mode (colorblind-friendly) | Dark mode (ANSI colors only) | Light mode (ANSI colors only) | New custom theme…",
		others: map[string]string{
			"beta":  "Auto (match terminal) | *Dark mode | Light mode | Dark mode (colorblind-friendly) | Light mode (colorblind-friendly) | Dark mode (ANSI colors only)",
			"gamma": "Auto (match terminal) | *Dark mode",
		},
		refused: refuses(pick("Light")), // of which there are several, or none in sight
		o:       pick("Auto (match terminal)"), want: fleet.AnswerGiven, shows: "Theme set to",
	},
	{
		name: "the model", do: asking("/model"), asks: "Select model",
		options: "*Default (recommended) | Sonnet | Fable | Opus | Haiku",
		others:  map[string]string{"beta": "*Default (recommended) | Sonnet | Fable", "gamma": "*Default (recommended) | Sonnet"},
		o:       pick("Sonnet"), want: fleet.AnswerGiven, shows: "Set model to",
	},
}

// bypassScenes are those of a client that is not to ask at all.
var bypassScenes = []scene{
	{
		name: "bypass", do: starting(bypassing, ""), options: "*No, exit | Yes, I accept",
		o: sure("Yes, I accept"), want: fleet.AnswerGiven, shows: "bypass permissions on",
	},
}

// starting puts another client into the pane, and gives it a prompt.
func starting(command, prompt string) func(liveAnswers) {
	return func(l liveAnswers) {
		l.t.Helper()
		l.tmux("respawn-pane", "-k", "-t", "=claude:", command)
		if prompt != "" {
			asking(prompt)(l)
		}
	}
}

// holds tells whether a file has a text.
func holds(dir, name, text string) (ok bool, what string) {
	raw, err := os.ReadFile(filepath.Join(dir, name))
	return err == nil && strings.Contains(string(raw), text), name + ": " + string(raw)
}

// has waits until a file in the workdir has a text, and lacks until it has not.
func has(name, text string) func(liveAnswers) (bool, string) {
	return func(l liveAnswers) (bool, string) { return holds(l.h.Workdir, name, text) }
}

func lacks(name, text string) func(liveAnswers) (bool, string) {
	return func(l liveAnswers) (bool, string) {
		ok, what := holds(l.h.Workdir, name, text)
		return !ok, what
	}
}

// notesServer is an MCP server with one tool, in sh.
const notesServer = `while IFS= read -r line; do
	id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
	case $line in
	*'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1"}}' ;;
	*'"tools/list"'*) result='{"tools":[{"name":"list","description":"Lists the notes","inputSchema":{"type":"object","properties":{}}}]}' ;;
	*'"tools/call"'*) result='{"content":[{"type":"text","text":"three notes"}]}' ;;
	*) result='{}' ;;
	esac
	[ -z "$id" ] || printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
`

// serves puts the MCP server into the workdir.
func (l liveAnswers) serves() {
	l.t.Helper()
	must(l.person, os.WriteFile(filepath.Join(l.h.Workdir, "notes.sh"), []byte(notesServer), 0o600))
	must(l.person, os.WriteFile(filepath.Join(l.h.Workdir, ".mcp.json"), []byte(`{"mcpServers":{"notes":{"command":"sh","args":["notes.sh"]}}}`), 0o600))
}
