package repo

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCalls holds that each call of claude-fleet in the documents names a command
// that there is, with flags that it has. What there is stands in docs/commands.md,
// which is made from the code.
func TestCalls(t *testing.T) {
	cli := readCLI(t)
	n := 0
	for _, page := range documents(t) {
		text := read(t, page)
		for _, call := range calls(text) {
			n++
			if err := cli.check(call); err != nil {
				t.Errorf("%s: claude-fleet %s: %v", page, strings.Join(call, " "), err)
			}
		}
	}
	// What was typed in the picture.
	typed := regexp.MustCompile(`>\$ claude-fleet ([^<]*)<`).FindAllStringSubmatch(read(t, "docs/picture.svg"), -1)
	if len(typed) < 5 {
		t.Errorf("the picture shows %d calls: are they still found?", len(typed))
	}
	for _, m := range typed {
		words, _ := oneCall(html.UnescapeString(m[1]))
		if err := cli.check(words); err != nil {
			t.Errorf("docs/picture.svg: claude-fleet %s: %v", m[1], err)
		}
	}
	if n < 60 {
		t.Errorf("the documents have %d calls: are they still found?", n)
	}
}

// cli are the commands and their flags, with dashes; those of every command are
// under the empty name.
type cli map[string][]string

var flagRow = regexp.MustCompile("^\\| `(?:(-[a-zA-Z]), )?(--[a-z-]+)")

func readCLI(t *testing.T) cli {
	t.Helper()
	c := cli{"completion": nil, "help": nil}
	name := ""
	for line := range strings.SplitSeq(read(t, "docs/commands.md"), "\n") {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			name = title
			if strings.Contains(title, "Flags") || strings.Contains(title, "Exit") {
				name = ""
			} else {
				c[name] = nil
			}
		}
		if m := flagRow.FindStringSubmatch(line); m != nil {
			c[name] = append(c[name], m[1], m[2])
		}
	}
	c[""] = append(c[""], "--help", "-h", "--version")
	if len(c) < 15 || len(c["send"]) < 5 || len(c[""]) < 8 {
		t.Fatalf("docs/commands.md is read as %v", c)
	}
	return c
}

// check says what is wrong with a call, whose words these are.
func (c cli) check(words []string) error {
	name, command := "", []string(nil)
	for i, w := range words {
		switch {
		case strings.HasPrefix(w, "-"):
			flag, _, _ := strings.Cut(w, "=")
			if !slices.Contains(c[""], flag) && !slices.Contains(c[name], flag) {
				return fmt.Errorf("no flag %s", flag)
			}
		case i == 0 || command == nil && strings.HasPrefix(words[0], "-"):
			command = []string{w}
			if _, ok := c[w]; !ok && w != "COMMAND" {
				return fmt.Errorf("no command %s", w)
			}
			name = w
		case w == "--":
			return nil
		default:
			// A command below another, such as "a b".
			if _, ok := c[name+" "+w]; ok {
				name += " " + w
			}
		}
	}
	return nil
}

// A call begins behind what a shell may have before a command; it ends where a
// shell or a sentence ends it.
var (
	callBegin = regexp.MustCompile(`(?:^|[\s$|;&(])(?:[./\w-]*/)?claude-fleet ([a-zA-Z-][^\n]*)`)
	callWord  = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`)
)

// calls are the words behind each claude-fleet of the fenced blocks, and of the
// code within sentences.
func calls(text string) [][]string {
	var lines []string
	for _, line := range fenced(text) {
		// Of a block of any language, only what begins as a call is one.
		if begin := strings.TrimLeft(line, " $#&|"); strings.HasPrefix(begin, "claude-fleet ") || strings.Contains(line, "| claude-fleet ") || strings.Contains(line, "(claude-fleet ") || strings.Contains(line, "/claude-fleet ") {
			lines = append(lines, line)
		}
	}
	for _, line := range prose(text) {
		for _, code := range inline.FindAllString(line, -1) {
			lines = append(lines, strings.Trim(code, "`"))
		}
	}
	var all [][]string
	for _, line := range lines {
		for line != "" {
			m := callBegin.FindStringSubmatchIndex(line)
			if m == nil {
				break
			}
			words, rest := oneCall(line[m[2]:])
			if len(words) > 0 && words[0] != "drives" {
				all = append(all, words)
			}
			line = rest
		}
	}
	return all
}

// oneCall takes the words of a call up to what ends it, and gives what is behind.
func oneCall(line string) (words []string, rest string) {
	for _, m := range callWord.FindAllStringIndex(line, -1) {
		w := line[m[0]:m[1]]
		switch {
		case strings.HasPrefix(w, "'"), strings.HasPrefix(w, `"`):
			words = append(words, "quoted")
		case slices.Contains([]string{"|", "||", "&&", "&", ";", "#", ">", ">>", "\\"}, w), strings.HasPrefix(w, "#"):
			return words, line[m[1]:]
		case strings.HasSuffix(w, ";"), strings.HasSuffix(w, ")"):
			// ":*" ends a rule of the client that allows a call.
			return append(words, strings.TrimSuffix(strings.TrimRight(w, ";)"), ":*")), line[m[1]:]
		default:
			words = append(words, w)
		}
	}
	return words, ""
}

// TestCheckCall has the negative twins, and how calls are found.
func TestCheckCall(t *testing.T) {
	c := readCLI(t)
	for _, row := range []struct {
		call string
		ok   bool
	}{
		{"send web --wait 'a --nonsense'", true},
		{"send web --wiat x", false},
		{"sned web x", false},
		{"status --check", true},
		{"read web --check", false},
		{"--json status", true},
		{"--config=f status --batch", true},
		{"map --toml", true},
		{"help send", true},
	} {
		words, _ := oneCall(row.call)
		if err := c.check(words); (err == nil) != row.ok {
			t.Errorf("%s: %v", row.call, err)
		}
	}
	text := "one `claude-fleet up web` two\n```\n$ claude-fleet a && claude-fleet b -x   # c\npass | claude-fleet d\nprose of claude-fleet here\n```\n"
	var got []string
	for _, call := range calls(text) {
		got = append(got, strings.Join(call, " "))
	}
	if want := "a;b -x;d;up web"; strings.Join(got, ";") != want {
		t.Errorf("calls: %q, not %q", strings.Join(got, ";"), want)
	}
}
