package api

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// verb names what a prompt makes the API do.
type verb string

const (
	verbAnswer     verb = "" // any other prompt
	verbSay        verb = "SAY"
	verbMarkdown   verb = "MARKDOWN"
	verbStream     verb = "STREAM"
	verbHold       verb = "HOLD"
	verbWait       verb = "WAIT"
	verbSilent     verb = "SILENT"
	verbThink      verb = "THINK"
	verbTool       verb = "TOOL"
	verbBackground verb = "BACKGROUND"
	verbWrite      verb = "WRITE"
	verbFetch      verb = "FETCH"
	verbCall       verb = "CALL"
	verbAgent      verb = "AGENT"
	verbDelegate   verb = "DELEGATE"
	verbTask       verb = "TASK"
	verbCompact    verb = "COMPACT"
	verbAsk        verb = "ASK"
	verbPlan       verb = "PLAN"
	verbError      verb = "ERR"
	verbDrop       verb = "DROP"
	verbLimit      verb = "LIMIT"
)

// verbThen begins a line that is for later: the first such line says what is
// done when a tool's result comes back, the second is for the next result, and
// so on.
const verbThen = "THEN"

// action is one line of the script: what to do, and with what.
type action struct {
	verb verb
	// text is the argument as it was written, without the number or word that
	// leads it (ERR, LIMIT); or the first line of the prompt (verbAnswer).
	text string
	// length is how long STREAM streams, or until when LIMIT limits.
	length time.Duration
	// status is the HTTP status of ERR.
	status int
	// lines is how many WRITE writes; 0 for one.
	lines int
	// input is the JSON object that CALL gives to its tool; empty for none.
	input string
}

// The longest stream and file and the farthest reset that a prompt can ask for.
// A larger number is a slip of the pen in a test.
const (
	maxStream = 10 * time.Minute
	maxLimit  = 31 * 24 * time.Hour
	maxLines  = 10_000
)

// parse finds the first line of a prompt that begins with a verb and has the
// argument that the verb needs. A prompt with no such line is answered.
func parse(prompt string) action {
	for line := range strings.Lines(prompt) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if a, ok := parseVerb(verb(word), strings.TrimSpace(rest)); ok {
			return a
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	return action{verb: verbAnswer, text: strings.TrimSpace(first)}
}

// parseLater finds what a prompt wants done after so many tool results.
func parseLater(prompt string, results int) (action, bool) {
	for line := range strings.Lines(prompt) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word != verbThen {
			continue
		}
		if results--; results == 0 {
			word, rest, _ = strings.Cut(strings.TrimSpace(rest), " ")
			return parseVerb(verb(word), strings.TrimSpace(rest))
		}
	}
	return action{}, false
}

func parseVerb(v verb, arg string) (action, bool) {
	switch v {
	case verbPlan, verbTask, verbDrop:
		return action{verb: v, text: arg}, arg == ""
	case verbAsk:
		_, known := questions[arg]
		return action{verb: v, text: arg}, known
	case verbMarkdown:
		_, known := texts[arg]
		return action{verb: v, text: arg}, known
	case verbSay, verbHold, verbWait, verbSilent, verbThink, verbTool, verbBackground, verbFetch, verbAgent, verbDelegate, verbCompact:
		return action{verb: v, text: arg}, arg != ""
	case verbCall:
		name, input, _ := strings.Cut(arg, " ")
		if object := map[string]any(nil); json.Unmarshal([]byte(input), &object) != nil || object == nil {
			name, input = arg, ""
		}
		return action{verb: v, text: name, input: input}, arg != ""
	case verbWrite:
		path, number, _ := strings.Cut(arg, " ")
		lines, err := strconv.Atoi(number)
		if err != nil || lines < 1 || lines > maxLines {
			path, lines = arg, 0 // a blank belongs to the path
		}
		return action{verb: v, text: path, lines: lines}, arg != ""
	case verbStream:
		length, ok := parseSeconds(arg, maxStream)
		return action{verb: v, text: arg, length: length}, ok
	case verbLimit:
		number, claim, _ := strings.Cut(arg, " ")
		length, ok := parseSeconds(number, maxLimit)
		return action{verb: v, text: strings.TrimSpace(claim), length: length}, ok
	case verbError:
		number, message, _ := strings.Cut(arg, " ")
		status, err := strconv.Atoi(number)
		return action{verb: v, text: strings.TrimSpace(message), status: status}, err == nil && status >= 400 && status <= 599
	}
	return action{}, false
}

// parseSeconds reads a number of seconds, which may have a fraction.
func parseSeconds(arg string, most time.Duration) (time.Duration, bool) {
	seconds, err := strconv.ParseFloat(arg, 64)
	if err != nil || !(seconds >= 0) || seconds > most.Seconds() {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}
