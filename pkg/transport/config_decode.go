package transport

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kevinburke/ssh_config"
)

// decode gives the lines that apply to the ssh_config library and takes the
// values of each keyword from it, put together as ssh -G prints them.
func decode(lines []*configLine) (dump, error) {
	var text strings.Builder
	var keys []*keyword
	for _, l := range lines {
		text.WriteString(l.known.name)
		words := l.args
		switch l.known.form {
		case formRest:
			words = []string{strings.TrimLeft(l.rest, blanks+"=")}
		case formJump:
			spec, err := jumpSpec(l.rest)
			if err != nil {
				return nil, l.fails(err)
			}
			words = []string{spec}
		}
		for _, w := range words {
			text.WriteString(" " + armour(w))
		}
		text.WriteString("\n")
		if !slices.Contains(keys, l.known) {
			keys = append(keys, l.known)
		}
	}
	cfg, err := ssh_config.DecodeBytes([]byte(text.String()))
	if err != nil {
		return nil, fmt.Errorf("ssh_config: %w", err)
	}
	d := dump{}
	for _, k := range keys {
		values, err := cfg.GetAll("x", k.name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
		lines := make([][]string, len(values))
		for i, v := range values {
			for w := range strings.FieldsSeq(v) {
				if w, err = url.PathUnescape(w); err != nil {
					return nil, fmt.Errorf("%s: %w", k.name, err)
				}
				lines[i] = append(lines[i], w)
			}
		}
		d.put(k, lines)
	}
	return d, nil
}

// armour hides from the decoder what it would take for its own: it ends a value
// at a #, wherever that stands, drops quotes around it and blanks behind it,
// and knows no NUL. url.PathUnescape takes it off.
func armour(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`%#"='`, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// put adds up the lines of one keyword: the first wins, save where they add up.
func (d dump) put(k *keyword, lines [][]string) {
	key := strings.ToLower(k.name)
	first := lines[0]
	switch key {
	case "identityfile", "certificatefile", "localforward", "remoteforward", "dynamicforward":
		for _, l := range lines {
			d[key] = append(d[key], strings.Join(l, " "))
		}
	case "sendenv":
		d[key] = sentNames(lines)
	case "setenv":
		var names []string
		for _, pair := range first {
			name, _, _ := strings.Cut(pair, "=")
			if !slices.Contains(names, name) {
				names = append(names, name)
				d[key] = append(d[key], pair)
			}
		}
	case "userknownhostsfile", "globalknownhostsfile":
		for i, w := range first {
			if strings.ContainsAny(w, blanks) {
				first[i] = `"` + w + `"`
			}
		}
		d[key] = []string{strings.Join(first, " ")}
	default:
		d[key] = []string{strings.Join(first, " ")}
	}
}

// sentNames adds up SendEnv: a pattern with - before it takes back what it
// matches of those so far.
func sentNames(lines [][]string) []string {
	var out []string
	for _, l := range lines {
		for _, w := range l {
			if p, back := strings.CutPrefix(w, "-"); back {
				out = slices.DeleteFunc(out, func(o string) bool { return matchPattern(o, p) })
				continue
			}
			out = append(out, w)
		}
	}
	return out
}
