package fleet

import (
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// statedTwice matches what the TOML package says of a key or a table that the
// file has already, in the same or another shape.
var statedTwice = lazyRegexp(`^Key '(.*)' (has|was) already `)

// typographic matches what it says of a value that begins with a quote that a word
// processor made.
var typographic = lazyRegexp(`^expected value but found '[“”„‟«»‘’‚]'`)

// addSyntax reports what the TOML package could not read.
func addSyntax(p *problems, text string, form fileForm, err error) {
	var parse toml.ParseError
	if !errors.As(err, &parse) {
		p.add(0, "", fault{err.Error(), "write it as TOML"})
		return
	}
	if m := statedTwice().FindStringSubmatch(parse.Message); m != nil {
		p.add(lineAt(text, parse.Position.Start), m[1], fault{"is stated already", "state each host and each key once"})
		return
	}
	f := fault{msg: strings.TrimSuffix(parse.Message, ".")}
	if f.msg != "" {
		f.msg = strings.ToLower(f.msg[:1]) + f.msg[1:]
	}
	n := lineAt(text, parse.Position.Start)
	line := strings.Split(text, "\n")[n-1]
	words := len(strings.Fields(line))
	switch {
	case words >= fewestColumns && words <= len(oldColumns) && !strings.ContainsAny(line, `[]="'{}`):
		f.hint = fmt.Sprintf("line %d made this file TOML; a host in columns cannot be mixed in", form.line)
	case typographic().MatchString(f.msg):
		f.hint = `put text in plain quotes, as in "text"`
	case strings.HasPrefix(f.msg, "expected '.' or '=', but got ':'"):
		f.hint = `write KEY = "text"`
	case strings.HasPrefix(f.msg, "expected value but found"):
		f.hint = "put text in quotes"
	}
	p.add(n, parse.LastKey, f)
}

// lineAt is the line of a byte of text. The TOML package counts a line end that
// it trips over as part of the next line, so its own count may be one too high.
func lineAt(text string, offset int) int {
	offset = max(0, min(offset, len(text)))
	return 1 + strings.Count(text[:offset], "\n")
}
