package transcript

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"
)

// parseCut reads a record of which only the beginning came, behind a mark with
// what is known of the rest. It is false for what is no such record.
func parseCut(line []byte) (Record, bool) {
	fields := bytes.SplitN(line, []byte(" "), 8)
	if len(fields) != 8 || string(fields[0]) != "cut" {
		return Record{}, false
	}
	size, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return Record{}, false
	}
	var f map[string]json.RawMessage
	if json.Unmarshal(mend(fields[7]), &f) != nil || f == nil {
		f = map[string]json.RawMessage{}
	}
	// What the beginning has is the record's own; the rest was found anywhere.
	add := func(key string, value []byte) {
		if _, ok := f[key]; !ok && string(value) != "-" {
			f[key], _ = json.Marshal(string(value)) // no string fails to marshal
		}
	}
	add("uuid", fields[2])
	if _, err := time.Parse(time.RFC3339, string(fields[3])); err == nil {
		add("timestamp", fields[3])
	}
	// A type that stands behind the message is the model's: what is said to it has
	// it before (2.0.76 to 2.1.332).
	if _, ok := f["message"]; ok {
		add("type", []byte("assistant"))
	}
	whole, err := json.Marshal(f)
	if err != nil {
		return Record{}, false
	}
	r, ok := ParseRecord(whole)
	yes := func(i int) bool { return string(fields[i]) == "1" }
	r.Size, r.Meta, r.Summary = size, r.Meta || yes(5), r.Summary || yes(6)
	for i := range r.Blocks {
		b := &r.Blocks[i]
		switch { // the kind may stand behind what was cut
		case b.Kind == "" && b.Text != "":
			b.Kind = "text"
		case b.Kind == "" && b.Args != "":
			b.Kind = "tool_use"
		case b.Kind == "tool_result":
			b.Err = b.Err || yes(4)
		}
	}
	return r, ok
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
