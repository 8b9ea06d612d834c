package transport

import "strings"

// matchPattern is OpenSSH's wildcard match: * is any run of bytes, ? exactly
// one byte, and everything else itself, case included.
func matchPattern(s, pattern string) bool {
	// After a mismatch the last * takes one byte more; earlier ones need not
	// be tried again, so that no pattern costs more than len(s)*len(pattern).
	star, mark := -1, 0
	i, j := 0, 0
	for i < len(s) {
		switch {
		case j < len(pattern) && pattern[j] == '*':
			star, mark = j, i
			j++
		case j < len(pattern) && (pattern[j] == '?' || pattern[j] == s[i]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = mark, star+1
		default:
			return false
		}
	}
	return strings.Trim(pattern[j:], "*") == ""
}

// matchList matches s against patterns with commas between them. One that
// begins with ! and matches decides against s, whatever the others say; such
// patterns alone match nothing.
func matchList(s, patterns string) bool {
	found := false
	for p := range strings.SplitSeq(patterns, ",") {
		p, negated := strings.CutPrefix(p, "!")
		if matchPattern(s, p) {
			if negated {
				return false
			}
			found = true
		}
	}
	return found
}

// matchHost is matchList for the names of machines, in which case is nothing.
func matchHost(host, patterns string) bool {
	return matchList(strings.ToLower(host), strings.ToLower(patterns))
}

// matchHostLine is what follows Host in ssh_config. Unlike Match, it compares
// the host as it was typed.
func matchHostLine(host string, patterns []string) bool {
	found := false
	for _, p := range patterns {
		p, negated := strings.CutPrefix(p, "!")
		if matchPattern(host, p) {
			if negated {
				return false
			}
			found = true
		}
	}
	return found
}
