package fakeclient

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// Setup says how `claude setup-token` goes. The zero value shows the address, takes
// any code with a "#" in it and prints the token.
type Setup struct {
	// Refuse is how many codes the service does not take.
	Refuse int `json:",omitempty"`
	// Silent shows nothing at all; Deaf nothing behind a code.
	Silent bool `json:",omitempty"`
	Deaf   bool `json:",omitempty"`
	// Junk is shown in place of the address.
	Junk string `json:",omitempty"`
	// Ends ends the program where the token would be shown.
	Ends bool `json:",omitempty"`
	// Alone is how long it takes until a browser brings the code by itself; zero is
	// never.
	Alone time.Duration `json:",omitempty"`
}

// SetupAddress is where setup-token has a person sign in.
const SetupAddress = "https://claude.ai/oauth/authorize?IsYh6BPzfaXRgwW1wuO31WARpNuw1bpOp5xXu0rR2LAk"

// AloneCode is the code that a browser brings by itself.
const AloneCode = "brought#itself"

// SetupToken is the token that a code gives. No file has it.
func SetupToken(code string) string {
	sum := sha256.Sum256([]byte(code))
	return "sk-ant-oat01-" + hex.EncodeToString(sum[:]) + "_-" + hex.EncodeToString(sum[:15]) + "AA"
}

// setup is the program on its terminal. Its rows are drawn as the real one's are:
// what differs from what stood there, cell by cell.
type setup struct {
	Setup
	rows  []string // as drawn
	codes chan string
	at    int // the row of the cursor
}

// setupToken is `claude setup-token`.
func setupToken() int {
	home, err := os.UserHomeDir()
	if err != nil {
		fmt.Fprintln(os.Stderr, "claude:", err)
		return 1
	}
	script, err := readScript(home)
	if err != nil {
		fmt.Fprintln(os.Stderr, "claude:", err)
		return 1
	}
	old, err := term.MakeRaw(0)
	if err != nil {
		fmt.Fprintln(os.Stderr, "claude: setup-token needs a terminal:", err)
		return 1
	}
	defer func() { _ = term.Restore(0, old) }()
	s := &setup{Setup: script.Setup, codes: make(chan string)}
	if s.Silent {
		hang()
	}
	fmt.Print("\x1b7\x1b[r\x1b8\x1b[?25l\x1b[?2004h\x1b]11;?\x07\x1b[c")
	if s.Junk != "" {
		s.draw(strings.Split(s.Junk, "\n")...)
		hang()
	}
	go s.readCodes()
	return s.lead()
}

// hang stays until it is killed.
func hang() {
	for {
		time.Sleep(time.Hour)
	}
}

func (s *setup) lead() int {
	var alone <-chan time.Time
	if s.Alone > 0 {
		alone = time.After(s.Alone)
	}
	trouble, more := "", ""
	for {
		s.draw("Welcome to Claude Code v"+Version, "", "Browser didn't open? Use the URL below to sign in (c to copy)", "", SetupAddress, "",
			"Paste code here if prompted", "╭──────────────╮", "│              │", "╰──────────────╯", trouble, more)
		code := ""
		select {
		case code = <-s.codes:
		case <-alone:
			code = AloneCode
		}
		switch {
		case !strings.Contains(code, "#"):
			trouble, more = "✘ That doesn't look like the full code.", "  Copy all of it, including the # in the middle."
		case s.Deaf:
			hang()
		case s.Refuse > 0:
			s.Refuse--
			s.draw("✶ Finishing sign-in…")
			s.draw("✘ OAuth error: Request failed with status code 400", "", "Press Enter to retry")
			<-s.codes
			trouble, more = "", ""
		default:
			s.draw("sk Finishing oat-sign-in…")
			if s.Ends {
				return 1
			}
			s.draw(" ✔ Long-lived authentication token created", "", " Your OAuth token (valid for 1 year):", " "+SetupToken(code), " Store this token securely. You won't be able to see it again.",
				" Use this token by setting: export CLAUDE_CODE_OAUTH_TOKEN=<token>")
			return 0
		}
	}
}

// readCodes reads what is typed, up to each Enter.
func (s *setup) readCodes() {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\r')
		if err != nil {
			return
		}
		s.codes <- strings.TrimSuffix(line, "\r")
	}
}

// draw puts rows in the place of those that stand there.
func (s *setup) draw(rows ...string) {
	var b strings.Builder
	for s.at > 0 {
		b.WriteString("\x1b[1A")
		s.at--
	}
	for y := range max(len(rows), len(s.rows)) {
		var was, is []rune
		if y < len(s.rows) {
			was = []rune(s.rows[y])
		}
		if y < len(rows) {
			is = []rune(rows[y])
		}
		x := -1 // of the cursor
		for i, r := range is {
			if i < len(was) && was[i] == r || i >= len(was) && r == ' ' {
				continue
			}
			if x != i {
				fmt.Fprintf(&b, "\x1b[%dG", i+1)
			}
			if r == 's' {
				b.WriteString("\x1b[38;5;220m")
			}
			b.WriteRune(r)
			x = i + 1
		}
		if len(was) > len(is) {
			fmt.Fprintf(&b, "\x1b[%dG\x1b[39m\x1b[K", len(is)+1)
		}
		b.WriteString("\r\r\n")
		s.at++
	}
	s.rows = rows
	fmt.Print(b.String())
}
