package transport

import (
	"errors"
	"strings"
)

const blanks = " \t\r\n"

// errQuotes is a quote that does not end.
var errQuotes = errors.New("invalid quotes")

// keywordOf splits a line of ssh_config into its keyword and the rest. The
// keyword is empty for an empty line and a comment. An equals sign may stand
// between the two, and OpenSSH takes one before the keyword also.
func keywordOf(line string) (keyword, rest string, err error) {
	// OpenSSH takes a form feed for a blank at the end of a line alone.
	if short := strings.TrimRight(line, blanks+"\f"); short != "" {
		line = short
	}
	keyword, rest, ok := cutToken(line)
	if ok && keyword == "" {
		keyword, rest, ok = cutToken(rest)
	}
	switch {
	case !ok:
		return "", "", errQuotes
	case strings.HasPrefix(keyword, "#"):
		return "", "", nil
	}
	return keyword, strings.TrimLeft(rest, blanks), nil
}

// cutToken takes the first word off s, as OpenSSH takes a keyword and, up to
// its version 9.8, the words of a Match line: one equals sign counts as a
// blank, and a double quote joins what is in it to what is before it.
func cutToken(s string) (token, rest string, ok bool) {
	i := strings.IndexAny(s, blanks+`"=`)
	switch {
	case i < 0:
		return s, "", true
	case s[i] == '"':
		end := strings.IndexByte(s[i+1:], '"')
		if end < 0 {
			return "", "", false
		}
		return s[:i] + s[i+1:i+1+end], strings.TrimLeft(s[i+2+end:], blanks), true
	}
	rest = strings.TrimLeft(s[i+1:], blanks)
	if s[i] != '=' && strings.HasPrefix(rest, "=") {
		rest = strings.TrimLeft(rest[1:], blanks)
	}
	return s[:i], rest, true
}

// splitArgs splits the rest of a line into arguments: quotes of both sorts join
// words, a backslash takes a quote, a backslash or a blank for itself, and a
// word that begins with # begins a comment (OpenSSH 8.7 and later).
func splitArgs(s string) ([]string, error) {
	var args []string
	for i := 0; i < len(s); i++ {
		if s[i] == ' ' || s[i] == '\t' {
			continue
		}
		if s[i] == '#' {
			break
		}
		var word []byte
		quote := byte(0)
		for ; i < len(s) && (quote != 0 || s[i] != ' ' && s[i] != '\t'); i++ {
			switch c := s[i]; {
			case c == '\\' && i+1 < len(s) && (strings.IndexByte(`'"\`, s[i+1]) >= 0 || quote == 0 && s[i+1] == ' '):
				i++
				word = append(word, s[i])
			case quote == 0 && (c == '"' || c == '\''):
				quote = c
			case quote != 0 && c == quote:
				quote = 0
			default:
				word = append(word, c)
			}
		}
		if quote != 0 {
			return nil, errQuotes
		}
		args = append(args, string(word))
	}
	return args, nil
}

// matchWords splits a Match line into its words, up to a comment. OpenSSH reads
// quotes there in one way up to 9.8 and in another since; sure is whether both
// ways come to the same.
func matchWords(rest string) (words []string, sure bool) {
	quoted, sure := false, true
	for i := 0; i < len(rest); i++ {
		alone := func(j int, other string) bool {
			return j < 0 || j >= len(rest) || strings.IndexByte(other, rest[j]) >= 0
		}
		switch c := rest[i]; {
		case c == '"' && quoted:
			quoted, sure = false, sure && alone(i+1, blanks)
		case c == '"':
			quoted, sure = true, sure && alone(i-1, blanks+"=")
		case c == '\'' && !quoted, c == '\\' && (!quoted || !alone(i+1, "") && strings.IndexByte(`'"\`, rest[i+1]) >= 0):
			sure = false
		case c == '#' && !quoted && alone(i-1, blanks):
			rest = rest[:i]
		}
	}
	for rest != "" {
		w, tail, ok := cutToken(rest)
		if !ok {
			return words, false
		}
		if w == "" {
			break
		}
		words, rest = append(words, w), tail
	}
	return words, sure
}
