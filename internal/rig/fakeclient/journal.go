package fakeclient

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// journal writes the conversation. Records keep their order: one that is late
// holds up those behind it.
type journal struct {
	path    string
	id      string // of the conversation
	cwd     string
	branch  string
	parent  string // id of the newest record of a turn
	prompts int

	waiting []entry
	timer   bool
	after   func(time.Duration, func())
}

// entry is a line that waits to be written, for so long since the line before
// it was; half of it may come sooner.
type entry struct {
	line []byte
	wait time.Duration
	torn time.Duration
}

type object = map[string]any

func openJournal(home, cwd, id string, after func(time.Duration, func())) *journal {
	return &journal{
		path: filepath.Join(home, ".claude", "projects", slug(cwd), id+".jsonl"), id: id, cwd: cwd, branch: gitBranch(cwd), after: after,
	}
}

// slug is how the client names the folder of a directory's conversations.
func slug(dir string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, dir)
}

func gitBranch(dir string) string {
	raw, err := os.ReadFile(filepath.Join(dir, ".git", "HEAD"))
	if err != nil {
		return ""
	}
	branch, _ := strings.CutPrefix(strings.TrimSpace(string(raw)), "ref: refs/heads/")
	return branch
}

func uuid() string {
	h := randomHex(16)
	return fmt.Sprintf("%s-%s-4%s-a%s-%s", h[:8], h[8:12], h[13:16], h[17:20], h[20:])
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

// record fills in what every record of a turn has.
func (j *journal) record(o object) object {
	var parent any
	if j.parent != "" {
		parent = j.parent
	}
	j.parent = uuid()
	for key, value := range (object{
		"parentUuid": parent, "isSidechain": false, "uuid": j.parent, "timestamp": now(),
		"userType": "external", "entrypoint": "cli", "cwd": j.cwd, "sessionId": j.id, "version": Version, "gitBranch": j.branch,
	}) {
		o[key] = value
	}
	return o
}

// user is the record of a prompt; source says how it came: "typed" or "queued".
func (j *journal) user(text, source string) object {
	j.prompts++
	return j.record(object{
		"type": "user", "message": object{"role": "user", "content": text}, "promptId": uuid(), "permissionMode": "bypassPermissions",
		"origin": object{"kind": "human"}, "promptSource": source, "turnOrigin": "human",
		"turnPosition": object{"promptIndex": j.prompts, "turnIndex": j.prompts},
	})
}

// assistant is the record of one block of an answer.
func (j *journal) assistant(block object, stop any) object {
	return j.record(object{"type": "assistant", "message": object{
		"content": []object{block}, "id": "msg_" + randomHex(8), "model": "claude-sonnet-5-5", "role": "assistant", "stop_reason": stop,
		"stop_sequence": nil, "type": "message", "usage": object{"input_tokens": 14000, "output_tokens": 10},
	}})
}

// result is the user record that carries what became of a tool's call.
func (j *journal) result(tool, text string, failed bool) object {
	return j.record(object{"type": "user", "message": object{"role": "user", "content": []object{
		{"type": "tool_result", "tool_use_id": tool, "content": text, "is_error": failed},
	}}})
}

// queued says what became of the queue: "enqueue" and "popAll" with the text,
// "dequeue" without.
func (j *journal) queued(operation, text string) object {
	o := object{"type": "queue-operation", "operation": operation, "timestamp": now(), "sessionId": j.id}
	if text != "" {
		o["content"] = text
	}
	return o
}

// interrupted says in the client's words that a turn was broken off.
func (j *journal) interrupted(words string) object {
	return j.record(object{"type": "user", "message": object{"role": "user", "content": []object{
		{"type": "text", "text": words},
	}}, "rowSource": "harness"})
}

func (j *journal) turnDuration(d time.Duration) object {
	return j.record(object{"type": "system", "subtype": "turn_duration", "durationMs": d.Milliseconds(), "isMeta": false})
}

// add writes a record when its turn comes: wait after the one before it, and
// half of it torn before the rest.
func (j *journal) add(o object, wait, torn time.Duration) {
	raw, err := json.Marshal(o)
	if err != nil {
		return
	}
	j.waiting = append(j.waiting, entry{append(raw, '\n'), wait, torn})
	j.write()
}

func (j *journal) write() {
	for !j.timer && len(j.waiting) > 0 {
		e := &j.waiting[0]
		switch {
		case e.wait > 0:
			d := e.wait
			e.wait = 0
			j.later(d)
		case e.torn > 0:
			d, half := e.torn, len(e.line)/2
			j.append(e.line[:half])
			e.line, e.torn = e.line[half:], 0
			j.later(d)
		default:
			j.append(e.line)
			j.waiting = j.waiting[1:]
		}
	}
}

func (j *journal) later(d time.Duration) {
	j.timer = true
	j.after(d, func() {
		j.timer = false
		j.write()
	})
}

// append adds to the file. A conversation that can't be written is one that
// tests can't find, which is how they learn of it.
func (j *journal) append(raw []byte) {
	if os.MkdirAll(filepath.Dir(j.path), 0o700) != nil {
		return
	}
	f, err := os.OpenFile(j.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(raw)
	_ = f.Close()
}
