package transport

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

func none(s string) string {
	if strings.EqualFold(s, "none") {
		return ""
	}
	return s
}

// seconds reads a time as ssh_config has it: 30, 1m, 1h30m.
func seconds(s string) (time.Duration, error) {
	var total time.Duration
	for rest := none(s); rest != ""; {
		end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			end = len(rest)
		}
		n, err := strconv.ParseUint(rest[:end], 10, 31)
		if err != nil {
			return 0, fmt.Errorf("%q is no time", s)
		}
		unit := time.Second
		if rest = rest[end:]; rest != "" {
			unit = units[strings.ToLower(rest[:1])]
			rest = rest[1:]
		}
		total += time.Duration(n) * unit
		if unit == 0 || time.Duration(n) > longestTime/unit || total > longestTime {
			return 0, fmt.Errorf("%q is no time", s)
		}
	}
	return total, nil
}

var units = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 168 * time.Hour}

// longestTime is OpenSSH's longest time.
const longestTime = math.MaxInt32 * time.Second

// splitWords splits a value at spaces, with double quotes for names that hold one.
func splitWords(s string) []string {
	var out []string
	var b strings.Builder
	quoted, word := false, false
	for _, r := range s {
		switch {
		case r == '"':
			quoted, word = !quoted, true
		case (r == ' ' || r == '\t') && !quoted:
			if word {
				out = append(out, b.String())
			}
			b.Reset()
			word = false
		default:
			b.WriteRune(r)
			word = true
		}
	}
	if word {
		out = append(out, b.String())
	}
	return out
}

// names reads a value that is a list of files. ssh -G prints them without their
// quotes, but with ~ replaced: what does not begin like a file there belongs to
// the name before it.
func (r *reading) names(key, unset string) []string {
	words := splitWords(r.dump.first(key, unset))
	if r.source != sourceSSH {
		return words
	}
	var out []string
	for _, w := range words {
		if len(out) > 0 && !strings.HasPrefix(w, "/") && !strings.HasPrefix(w, "~") {
			out[len(out)-1] += " " + w
			continue
		}
		out = append(out, w)
	}
	return out
}
