package transcript

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// cutLine is a record of which only the beginning came.
type cutLine struct {
	line                  []byte // the beginning, made a whole record of
	size                  int64  // of all of it, in bytes
	failed, meta, summary bool   // what was found in all of it
}

// parseCut reads such a record behind its mark. It is false for what is none.
func parseCut(line []byte) (cutLine, bool) {
	fields := strings.SplitN(string(line), " ", 8)
	if len(fields) != 8 || fields[0] != "cut" {
		return cutLine{}, false
	}
	size, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return cutLine{}, false
	}
	var f map[string]any
	if json.Unmarshal(mend([]byte(fields[7])), &f) != nil || f == nil {
		f = map[string]any{}
	}
	// What the beginning has is the record's own, save that it may be cut there;
	// the rest was found anywhere.
	complete := func(key string, values ...string) {
		have, _ := f[key].(string)
		for _, v := range values {
			if v != "-" && strings.HasPrefix(v, have) {
				f[key] = v
				return
			}
		}
	}
	complete("uuid", fields[2])
	complete("timestamp", fields[3])
	if at, ok := f["timestamp"].(string); ok {
		if _, err := time.Parse(time.RFC3339, at); err != nil {
			delete(f, "timestamp") // it would cost the record
		}
	}
	if _, ok := f["type"]; ok {
		complete("type", "user", "assistant", "system", "attachment", "queue-operation")
	} else if _, ok := f["message"]; ok {
		// A type that stands behind the message is the model's: what is said to it
		// has it before (2.0.76 to 2.1.332).
		f["type"] = "assistant"
	}
	whole, err := json.Marshal(f)
	return cutLine{whole, size, fields[4] == "1", fields[5] == "1", fields[6] == "1"}, err == nil
}

// mark puts what was found into the record that was read of the beginning.
func (c cutLine) mark(r *Record) {
	r.Size, r.Meta, r.Summary = c.size, r.Meta || c.meta, r.Summary || c.summary
	for i := range r.Blocks {
		b := &r.Blocks[i]
		switch { // the kind may stand behind what was cut
		case b.Kind == "" && b.Text != "":
			b.Kind = "text"
		case b.Kind == "" && b.Args != "":
			b.Kind = "tool_use"
		case b.Kind == "tool_result":
			b.Err = b.Err || c.failed
		}
	}
}

// mend completes the beginning of a JSON value to a whole one: a string that was
// cut ends there, a key without its value goes, and what is open is closed. It
// returns nil when there is nothing to complete.
func mend(head []byte) []byte {
	var open []byte     // the closing brackets that are due, innermost last
	key := []bool{}     // by level: an object's key comes next, or stands open
	safe, depth := 0, 0 // up to where head is complete, and how many brackets are open there
	done := func(i int) { safe, depth = i, len(open) }
	for i := 0; i < len(head); {
		level := len(open) - 1
		switch b := head[i]; b {
		case '{', '[':
			open, key = append(open, b+2), append(key, b == '{')
			i++
			done(i)
		case '}', ']':
			if level < 0 || open[level] != b {
				return nil
			}
			open, key = open[:level], key[:level]
			i++
			done(i)
			if len(open) == 0 {
				return head[:i]
			}
		case '"':
			end := stringEnd(head[i:])
			isKey := level >= 0 && key[level]
			if end < 0 {
				if isKey {
					return closed(head[:safe], open[:depth])
				}
				return closed(append(withoutPart(head[i:], head[:i]), '"'), open)
			}
			if i += end; !isKey {
				done(i)
			}
		case ':', ',':
			if level >= 0 && open[level] == '}' {
				key[level] = b == ','
			}
			i++
		case ' ', '\t', '\r', '\n':
			i++
		default: // a number, or one of the words
			end := i
			for end < len(head) && !isStop(head[end]) {
				end++
			}
			if end == len(head) { // it may go on
				return closed(head[:safe], open[:depth])
			}
			i = end
			done(i)
		}
	}
	return closed(head[:safe], open[:depth])
}

func isStop(b byte) bool {
	switch b {
	case ' ', '\t', '\r', '\n', ',', ':', ']', '}', '[', '{', '"':
		return true
	}
	return false
}

// closed is text with brackets closed, the last first.
func closed(text, brackets []byte) []byte {
	if len(text) == 0 {
		return nil
	}
	out := append([]byte{}, text...)
	for i := len(brackets) - 1; i >= 0; i-- {
		out = append(out, brackets[i])
	}
	return out
}

// stringEnd is the length of the JSON string that text begins with, quotes
// included; -1 when it does not end.
func stringEnd(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// withoutPart is before, then a cut string without the part of an escape or of a
// character at its end.
func withoutPart(cut, before []byte) []byte {
	end := len(cut)
	for i := 1; i < len(cut); i++ {
		if cut[i] != '\\' {
			continue
		}
		length := 2
		if i+1 < len(cut) && cut[i+1] == 'u' {
			length = 6
		}
		if i+length > len(cut) {
			end = i
			break
		}
		i += length - 1
	}
	for n := 1; n < utf8.UTFMax && n < end; n++ {
		if start := end - n; utf8.RuneStart(cut[start]) {
			if !utf8.FullRune(cut[start:end]) {
				end = start
			}
			break
		}
	}
	return append(append([]byte{}, before...), cut[:end]...)
}
