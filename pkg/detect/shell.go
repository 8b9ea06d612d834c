package detect

import "strings"

// findShell gives the row of a shell prompt that waits where the client was, -1
// for none. It is the lowest row; or, where a killed client left its screen
// behind, a row beneath what remains of its box (broken, -1 when there is none).
// The cursor, where known, must stand on that row, behind the prompt: output
// that merely ends in a prompt's character is not a prompt.
func (s *screen) findShell(cursorX, cursorY, broken int) int {
	lowest := s.last
	if broken >= 0 {
		lowest = broken + 1
	}
	for y := s.last; y >= lowest && y >= 0; y-- {
		r := &s.rows[y]
		if r.blank() || r.indent != 0 || cursorY >= 0 && cursorY != y {
			continue
		}
		if end := promptEnd(r.text); end > 0 && (cursorY < 0 || cursorX < 0 || cursorX >= end) {
			return y
		}
	}
	return -1
}

// promptEnd gives the length of the shell prompt that text starts with, 0 for
// none. Shapes: `bash-5.2#`, `user@host:~/dir$`, `[user@host dir]#`, `host%`,
// `~/dir $`, `➜  dir`, and a lone `$`, `#` or `%`.
func promptEnd(text string) int {
	if rest := withoutReply(text); rest != text {
		if end := promptEnd(rest); end > 0 {
			return end + len(text) - len(rest)
		}
		return 0
	}
	if strings.HasPrefix(text, "➜ ") {
		return len("➜ ")
	}
	i := strings.IndexAny(text, "$#%>")
	if i < 0 || i > 100 {
		return 0
	}
	if i+1 < len(text) && text[i+1] != ' ' {
		return 0
	}
	head := strings.TrimRight(text[:i], " ")
	if strings.HasPrefix(head, "<") || strings.HasPrefix(head, "claude") {
		return 0 // markup, or a word of the client's
	}
	switch {
	case head == "":
		if text[i] == '>' {
			return 0 // the oldest client's own prompt, and a quotation
		}
		return i + 1
	case isDigit(head[len(head)-1]) && text[i] == '%' && !strings.ContainsAny(head, "@-~"):
		return 0 // a percentage
	case shellName(head), strings.Contains(head, "@") && !strings.Contains(head, " @"),
		strings.HasPrefix(head, "~"), strings.HasPrefix(head, "/") && !strings.Contains(head, " "):
		return i + 1
	case !strings.ContainsAny(head, " \t:;,.(){}\"'") && text[i] != '>':
		return i + 1
	}
	return 0
}

// withoutReply is a shell's row without the terminal's reply to a question of
// the client's, which comes after its death and is echoed: `^[[?1;2c`.
func withoutReply(text string) string {
	if !strings.HasPrefix(text, "^[[?") {
		return text
	}
	rest := strings.TrimLeft(text[len("^[[?"):], "0123456789;")
	if rest == "" || rest[0] != 'c' {
		return text
	}
	return rest[1:]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// shellName reports whether a prompt is a shell's own default: its name, a dash
// and its version.
func shellName(head string) bool {
	name, version, _ := strings.Cut(head, "-")
	switch name {
	case "sh", "bash", "dash", "ash", "zsh", "fish", "ksh", "mksh":
		return strings.Trim(version, "0123456789.") == ""
	}
	return false
}

// shellOnly reports whether text is nothing but a shell's prompt, of a shape that
// nobody writes by itself.
func shellOnly(text string) bool {
	head := strings.TrimRight(text, "$#% ")
	return text != "" && promptEnd(text) == len(text) && head != text && (shellName(head) || strings.Contains(head, "@") || strings.HasPrefix(head, "~"))
}

// findSuspended gives the row on which the client says that it was suspended,
// -1 for none. It must be among the lowest rows: nothing is drawn after it.
func (s *screen) findSuspended() int {
	for y := s.last; y >= 0 && y > s.last-4; y-- {
		t := s.rows[y].text
		if strings.HasPrefix(t, "Claude Code ") && strings.Contains(t, "suspended") && strings.Contains(t, "`fg`") {
			return y
		}
	}
	return -1
}
