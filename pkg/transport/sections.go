package transport

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Section is what one fragment of Sections printed.
type Section struct {
	// Out is its standard output, exact to the byte.
	Out []byte
	// ExitCode is the fragment's; it means something only if Ran.
	ExitCode int
	// Ran is whether the fragment ran to its end.
	Ran bool
}

// Sections joins several fragments of sh into one script and tells apart what
// each printed. A fresh random nonce marks the borders, so that nothing which a
// fragment prints can pass for one: make a new Sections for each run.
//
// Fragments run one after the other, each in a subshell of its own: neither an
// exit, a variable nor a syntax error of one reaches another. It is not safe
// for concurrent use while fragments are added.
type Sections struct {
	nonce     string
	names     []string
	fragments []string
}

// NewSections gives an empty list with a new nonce.
func NewSections() *Sections { return &Sections{nonce: newNonce()} }

// Add appends fragment under name. It panics if name was added before: which
// of the two Parse should give under it, nobody could say.
func (s *Sections) Add(name, fragment string) {
	for _, n := range s.names {
		if n == name {
			panic("transport: section added twice: " + name)
		}
	}
	s.names = append(s.names, name)
	s.fragments = append(s.fragments, fragment)
}

// Script is the text to run. It exits with the last fragment's code.
func (s *Sections) Script() string {
	var b strings.Builder
	for i, f := range s.fragments {
		// A quoted fragment cannot break the syntax of what stands around it.
		fmt.Fprintf(&b, "printf '%%s\\n' %sb%d\n(eval %s\n)\nfleet_code=$?\nprintf '%%s %%s\\n' %se%d \"$fleet_code\"\n",
			s.nonce, i, Quote(f), s.nonce, i)
	}
	if len(s.fragments) > 0 {
		b.WriteString("(exit \"$fleet_code\")\n")
	}
	return b.String()
}

// Parse takes apart what Script printed. The map always has every name that was
// added. The error, if any, names the first section that did not run to its
// end; the sections before it are whole all the same.
func (s *Sections) Parse(stdout []byte) (map[string]Section, error) {
	out := make(map[string]Section, len(s.names))
	for _, n := range s.names {
		out[n] = Section{}
	}
	rest := stdout
	for i, n := range s.names {
		_, after, ok := bytes.Cut(rest, fmt.Appendf(nil, "%sb%d\n", s.nonce, i))
		if !ok {
			return out, fmt.Errorf("section %s is missing from the answer", n)
		}
		body, after, ok := bytes.Cut(after, fmt.Appendf(nil, "%se%d ", s.nonce, i))
		if !ok {
			out[n] = Section{Out: body}
			return out, fmt.Errorf("section %s did not end", n)
		}
		code, after, ok := bytes.Cut(after, []byte("\n"))
		v, err := strconv.ParseUint(string(code), 10, 8)
		if !ok || err != nil {
			out[n] = Section{Out: body}
			return out, fmt.Errorf("section %s ended without an exit code", n)
		}
		out[n] = Section{Out: body, ExitCode: int(v), Ran: true}
		rest = after
	}
	return out, nil
}
