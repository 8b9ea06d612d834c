package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ConfigError is one thing that is wrong with a fleet.conf. LoadTable and
// ParseTable report all that they find, joined in the order of the lines;
// errors.As finds the first.
type ConfigError struct {
	File string // as it was given
	Line int    // from 1; 0 where the whole file is meant
	Key  string // such as hosts.box.workdir; empty where no key is meant
	Msg  string // what is wrong
	Hint string // what to do about it; may be empty

	err error // what the system said, for errors.Is
}

// Error is "FILE:LINE: KEY: message (hint)" on one line, without the parts that
// are empty. What came from the file is shown so that it cannot steer a terminal.
func (e *ConfigError) Error() string {
	var b strings.Builder
	b.WriteString(printable(e.File))
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": ")
	if e.Key != "" {
		b.WriteString(clip(printable(e.Key)) + ": ")
	}
	b.WriteString(printable(e.Msg))
	if e.Hint != "" {
		b.WriteString(" (" + printable(e.Hint) + ")")
	}
	return b.String()
}

// Unwrap returns the error of the system where there is one, so that
// errors.Is(err, fs.ErrNotExist) works.
func (e *ConfigError) Unwrap() error { return e.err }

// fault is what a check finds wrong with a value; where it stands is added by
// whoever called the check.
type fault struct{ msg, hint string }

// problems collects what is wrong with one file.
type problems struct {
	file string
	list []*ConfigError
}

func (p *problems) add(line int, key string, f fault) {
	p.list = append(p.list, &ConfigError{File: p.file, Line: line, Key: key, Msg: f.msg, Hint: f.hint})
}

func (p *problems) addAll(line int, key string, faults []fault) {
	for _, f := range faults {
		p.add(line, key, f)
	}
}

// maxProblems is how many are told of one file. Where there are more, it is not
// the file that was meant, or one slip has caused them all.
const maxProblems = 50

// err joins the problems in the order of their lines; nil when there are none.
func (p *problems) err() error {
	slices.SortStableFunc(p.list, func(a, b *ConfigError) int { return cmp.Compare(a.Line, b.Line) })
	var errs []error
	for i, e := range p.list {
		if i == maxProblems {
			msg := fmt.Sprintf("and %d more problems", len(p.list)-i)
			errs = append(errs, &ConfigError{File: p.file, Msg: msg, Hint: "mend these first"})
			break
		}
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}

// keyPath words a key as the file would write it: hosts."a.b".workdir.
func keyPath(parts ...string) string {
	words := make([]string, len(parts))
	for i, part := range parts {
		words[i] = tomlKey(part)
	}
	return strings.Join(words, ".")
}

// quote shows a value in a message, cut to a length that leaves the message
// readable.
func quote(s string) string { return clip(strconv.Quote(s)) }

// clip cuts s to 80 runes.
func clip(s string) string {
	const most = 80
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// printable replaces each rune that a terminal would act on rather than show,
// and each byte that is not UTF-8, by its escape.
func printable(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
