package api

import (
	"strconv"
	"strings"
	"time"
)

// verb names what a prompt makes the API do.
type verb string

const (
	verbAnswer verb = "" // any other prompt
	verbSay    verb = "SAY"
	verbStream verb = "STREAM"
	verbHold   verb = "HOLD"
	verbWait   verb = "WAIT"
	verbTool   verb = "TOOL"
	verbWrite  verb = "WRITE"
	verbAsk    verb = "ASK"
	verbPlan   verb = "PLAN"
	verbError  verb = "ERR"
	verbLimit  verb = "LIMIT"
)

// action is one line of the script: what to do, and with what.
type action struct {
	verb verb
	// text is the argument as it was written (SAY, HOLD, WAIT, TOOL, WRITE), or the
	// first line of the prompt (verbAnswer).
	text string
	// length is how long STREAM streams, or until when LIMIT limits.
	length time.Duration
	// status is the HTTP status of ERR.
	status int
}

// The longest stream and the farthest reset that a prompt can ask for. A
// larger number is a slip of the pen in a test.
const (
	maxStream = 10 * time.Minute
	maxLimit  = 31 * 24 * time.Hour
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

func parseVerb(v verb, arg string) (action, bool) {
	switch v {
	case verbAsk, verbPlan:
		return action{verb: v, text: arg}, arg == ""
	case verbSay, verbHold, verbWait, verbTool, verbWrite:
		return action{verb: v, text: arg}, arg != ""
	case verbStream:
		length, ok := parseSeconds(arg, maxStream)
		return action{verb: v, text: arg, length: length}, ok
	case verbLimit:
		length, ok := parseSeconds(arg, maxLimit)
		return action{verb: v, text: arg, length: length}, ok
	case verbError:
		status, err := strconv.Atoi(arg)
		return action{verb: v, text: arg, status: status}, err == nil && status >= 400 && status <= 599
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
