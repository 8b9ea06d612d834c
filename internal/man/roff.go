package man

import (
	"strings"
	"unicode/utf8"
)

// escape gives text as roff shows it unchanged: no escape sequence and, at the
// beginning of a line, no request. What is not ASCII is named by its code point,
// which every man takes whatever the encoding of the file is.
func escape(text string) string {
	var b strings.Builder
	lineStart := true // of what is written: a character that is dropped begins no line
	for _, r := range text {
		switch {
		case r == '\r' || r == utf8.RuneError || r < ' ' && r != '\n' && r != '\t':
			// No help has these; roff takes some for its own.
		default:
			if lineStart && (r == '.' || r == '\'') {
				b.WriteString(`\&`)
			}
			b.WriteString(glyph(r))
			lineStart = r == '\n'
		}
	}
	return b.String()
}

// glyph is how a character is written so that it comes out as it is in a
// terminal and can be pasted from there: a plain - would be a hyphen.
func glyph(r rune) string {
	switch r {
	case '\\':
		return `\e`
	case '-':
		return `\-`
	case '\'':
		return `\(aq`
	case '`':
		return `\(ga`
	case '^':
		return `\(ha`
	case '~':
		return `\(ti`
	case '"':
		return `\(dq`
	}
	if r > '~' {
		return `\[u` + codePoint(r) + `]`
	}
	return string(r)
}

func codePoint(r rune) string {
	const digits = "0123456789ABCDEF"
	var hex string
	for ; r > 0 || len(hex) < 4; r /= 16 {
		hex = string(digits[r%16]) + hex
	}
	return hex
}

// paragraphs sets the plain text of a help: paragraphs apart by empty lines, and
// lines that are indented, which stay as they are.
func paragraphs(b *strings.Builder, text string) {
	begun := false
	for _, block := range strings.Split(strings.TrimSpace(text), "\n\n") {
		var plain []string
		flush := func() {
			if len(plain) > 0 {
				if begun {
					b.WriteString(".PP\n")
				}
				b.WriteString(escape(strings.Join(plain, "\n")) + "\n")
				plain, begun = nil, true
			}
		}
		lines := strings.Split(strings.Trim(block, "\n"), "\n")
		for i := 0; i < len(lines); i++ {
			if !strings.HasPrefix(lines[i], "  ") {
				plain = append(plain, strings.TrimSpace(lines[i]))
				continue
			}
			flush()
			var kept []string
			for ; i < len(lines) && strings.HasPrefix(lines[i], "  "); i++ {
				kept = append(kept, strings.TrimPrefix(lines[i], "  "))
			}
			i--
			verbatim(b, kept)
			begun = true
		}
		flush()
	}
}

// verbatim sets lines as they are, indented.
func verbatim(b *strings.Builder, lines []string) {
	b.WriteString(".PP\n.RS 4\n.nf\n" + escape(strings.Join(lines, "\n")) + "\n.fi\n.RE\n")
}
