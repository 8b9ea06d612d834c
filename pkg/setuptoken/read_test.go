package setuptoken

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// What client 2.1.332 drew on a terminal of 400 columns with no way to the service,
// without most of the frames' lines: the first screen, then a code that is none,
// then a code that could not be redeemed.
const (
	drawnFirst = "\x1b7\x1b[r\x1b8\x1b[?25h\x1b[?25l\x1b[?2004h\x1b[?2031h\x1b[38;5;174mWelcome\x1b[9Gto\x1b[12GClaude\x1b[19GCode\x1b[24G\x1b[38;5;246mv2.1.332\x1b[39m\r\r\n\r\r\n\x1b]11;?\x07\x1b[c" +
		"\x1b[2GBrowser\x1b[10Gdidn't\x1b[17Gopen?\x1b[23GUse\x1b[27Gthe\x1b[31GURL\x1b[35Gbelow\x1b[41Gto\x1b[44Gsign\x1b[49Gin\x1b[52G\x1b[38;5;246m(c\x1b[55Gto\x1b[58Gcopy)\x1b[39m\r\r\n\r\r\n" +
		"\x1b]8;id=auylr9;https://claude.ai/oauth/authorize?IrZrc3xsf8mGOjm0s83Ur7AIaFZZ3C_4r2twek1d2sKk\x07\x1b[38;5;246mhttps://claude.ai/oauth/authorize?IrZrc3xsf8mGOjm0s83Ur7AIaFZZ3C_4r2twek1d2sKk\x1b[39m\x1b]8;;\x07\r\r\n\r\r\n" +
		"\x1b[2GPaste\x1b[8Gcode\x1b[13Ghere\x1b[18Gif\x1b[21Gprompted\r\r\n\x1b[2G\x1b[38;5;153m╭──╮\x1b[39m\r\r\n\x1b[2G\x1b[38;5;153m│\x1b[4G\x1b[39m\x1b[7m \x1b[27m\x1b[38;5;153m\r\r\n\x1b[2G╰──╯\x1b[39m\r\r\n\x1b[3C\x1b[2A\x1b[>0q\x1b[?u\x1b]7501;?\x07\x1b[c"
	drawnHalf   = "\x1b[3D\x1b[2B\r\x1b[1C\x1b[4APaste code here if prompted\x1b[K\r\x1b[1C\x1b[4B✘\x1b[4GThat doesn't look like the full code.\x1b[39m\x1b[K\r\x1b[1C\x1b[1B  \x1b[38;5;246mCopy all of it, including the # in the middle.\x1b[39m\x1b[K\r\r\n\x1b[3C\x1b[4A"
	drawnFinish = "\x1b[2J\x1b[H\x1b[1C\x1b[38;5;231m✶\x1b[39m Finishing sign-i\x1b[21G…\x1b[23G\x1b[K\r"
	drawnError  = "\r\x1b[1C\x1b[38;5;211m✘\x1b[4GOAuth error: Couldn't get an answer from the sign-in service (EAI_AGAIN). Check your internet connection, then try again.\x1b[39m\r\r\n\r\r\n\x1b[2G\x1b[38;5;153mPress\x1b[8G\x1b[1mEnter\x1b[22m to\x1b[17Gretry\x1b[39m\r\r\n"
)

func TestScreen(t *testing.T) {
	const address = "https://claude.ai/oauth/authorize?IrZrc3xsf8mGOjm0s83Ur7AIaFZZ3C_4r2twek1d2sKk"
	const token = "sk-ant-oat01-AbC_-012345678"
	type want struct {
		rows    []string // among others
		address string
		token   string
		trouble string
		retry   bool
	}
	for name, tt := range map[string]struct {
		drawn string
		want  want
	}{
		"the first screen": {drawnFirst, want{rows: []string{"Welcome to Claude Code v2.1.332", "Browser didn't open? Use the URL below to sign in (c to copy)", "Paste code here if prompted"}, address: address}},
		"half a code":      {drawnFirst + drawnHalf, want{address: address, trouble: "That doesn't look like the full code."}},
		"finishing":        {drawnFirst + drawnFinish, want{rows: []string{"✶ Finishing sign-i …"}}},
		"an error": {drawnFirst + drawnFinish + drawnError, want{rows: []string{"Press Enter to retry"}, retry: true,
			trouble: "OAuth error: Couldn't get an answer from the sign-in service (EAI_AGAIN). Check your internet connection, then try again."}},
		"a token":                            {"\x1b[33m" + token + "\x1b[39m\r\nStore it", want{token: token}},
		"around what stood there":            {"\x1b[2J\x1b[Hab-ant-xx\r\x1b[1Gsk\x1b[8Goat01-AbC_-0123\x1b[23G45678\x1b[39m", want{token: token}},
		"in words":                           {"set X=" + token + ", then", want{token: token}},
		"behind a word":                      {"x" + token, want{}},
		"the beginning of one":               {"sk-ant-oat01-", want{}},
		"the name of the variable":           {"export CLAUDE_CODE_OAUTH_TOKEN=<token>", want{}},
		"another key":                        {"sk-ant-api03-AbC_-012345678", want{}},
		"hidden in a title":                  {"\x1b]0;" + token + "\x07", want{}},
		"taken back":                         {token + "\r\x1b[K", want{}},
		"not https":                          {"http://claude.ai/x", want{}},
		"with an account":                    {"https://claude.ai@evil.example/x", want{}},
		"with a character that is not shown": {"https://claude.ai/\u202ex", want{}},
		"with words behind":                  {"https://claude.ai/x or so", want{}},
		"no host":                            {"https:///x", want{}},
		"hostile trouble":                    {"✘ \u009b31m \u202e" + token, want{token: token, trouble: `\u009b31m \u202e[token]`}},
	} {
		for _, piece := range []int{1, 7, 1 << 20} {
			var s screen
			for chunk := range slices.Chunk([]byte(tt.drawn), piece) {
				s.Write(chunk)
			}
			got := read(s.text())
			if got.address != tt.want.address || got.retry != tt.want.retry || tt.want.token != "" != got.token.Is(tt.want.token) || tt.want.token == "" && !got.token.IsZero() {
				t.Errorf("%s in pieces of %d: address %q, retry %v, a token %v:\n%s", name, piece, got.address, got.retry, !got.token.IsZero(), strings.Join(s.text(), "\n"))
			}
			if got.trouble != tt.want.trouble && name != "hostile trouble" || strings.ContainsAny(got.trouble, "\u009b\u202e") || strings.Contains(got.trouble, "sk-ant") {
				t.Errorf("%s: trouble %q", name, got.trouble)
			}
			for _, row := range tt.want.rows {
				if !slices.Contains(s.text(), row) {
					t.Errorf("%s in pieces of %d: no row %q in %q", name, piece, row, s.text())
				}
			}
		}
	}
}

// FuzzScreen holds that nothing breaks it, that pieces make no difference, and that
// what is told of is harmless and shows no token.
func FuzzScreen(f *testing.F) {
	for _, s := range []string{drawnFirst, drawnHalf, drawnFinish, drawnError, "✘ sk-ant-oat01-abcd\x1b[999;999H\x1b[5A\x1b[1J\x1b[1K\x1b[3Jx\x1b", "https://a.b/c\n\t\b\x1b]8;;\x1b\\x\x1bPq\x1b\\\xff\xe2\x94"} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, drawn []byte, piece int) {
		var whole, pieces screen
		whole.Write(drawn)
		for chunk := range slices.Chunk(drawn, max(1, piece)) {
			pieces.Write(chunk)
		}
		if len(drawn) < maxPending && !slices.Equal(whole.text(), pieces.text()) {
			t.Errorf("%q is not %q", pieces.text(), whole.text())
		}
		s := read(whole.text())
		for _, said := range []string{s.trouble, s.address, lastWords(whole.text())} {
			if strings.ContainsAny(said, "\x1b\n\r\x07\u009b\u202e") || strings.Contains(said, "sk-ant-") || !utf8.ValidString(said) {
				t.Errorf("%q", said)
			}
		}
		if s.address != "" && !strings.HasPrefix(s.address, "https://") {
			t.Errorf("%q", s.address)
		}
	})
}
