package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParseToken(t *testing.T) {
	const good = "sk-ant-oat01-AbC_-0123"
	for text, says := range map[string]string{
		good: "", " " + good + "\r\n": "", "sk-ant-oat12-abcd": "",
		"": "empty", " \n": "empty", "sk-ant-oat01-ab cd": "white space", "sk-ant-oat01-ab\x1bcd": "control", "sk-ant-api03-abcd": "begin",
		"x" + good: "begin", good + "'": "other characters", good + "=": "other characters", "sk-ant-oat01-": "ends too early", "sk-ant-oat-abcdef": "other characters",
		good + "é": "other characters", good + strings.Repeat("a", maxToken): "longer",
	} {
		tok, err := ParseToken(text)
		if says == "" {
			if err != nil || !tok.Is(strings.TrimSpace(text)) || tok.IsZero() {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if err == nil || ClassOf(err) != ClassUsage || !strings.Contains(err.Error(), says) || !tok.IsZero() || strings.Contains(err.Error(), "abcd") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestTokenShown prints a token in all ways, and within what holds it.
func TestTokenShown(t *testing.T) {
	const secret = "sk-ant-oat01-do-not-show"
	tok, err := ParseToken(secret)
	if err != nil {
		t.Fatal(err)
	}
	held := struct {
		Exported ReauthOptions
		hidden   ReauthOptions
		pointer  *ReauthOptions
		list     []Token
	}{ReauthOptions{Token: tok}, ReauthOptions{Token: tok}, &ReauthOptions{Token: tok}, []Token{tok}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, v := range []any{tok, &tok, held, &held, fmt.Errorf("wrapped %v", tok), []Token{tok}, map[string]Token{"a": tok}} {
			if got := fmt.Sprintf(verb, v); strings.Contains(got, "do-not-show") || strings.Contains(got, fmt.Sprintf("%x", secret)) {
				t.Errorf("%s of a %T is %s", verb, v, got)
			}
		}
	}
	if raw, err := json.Marshal(held); !errors.Is(err, errTokenText) || len(raw) > 0 {
		t.Errorf("%s, %v", raw, err)
	}
	if tok.reveal() != secret || (Token{}).reveal() != "" { // the twin: it is there
		t.Error("it is not there")
	}
	if got := Redact("a " + secret + ", sk-ant-api03-x; sk-an"); got != "a [token], [token]; sk-an" {
		t.Error(got)
	}
}

func FuzzParseToken(f *testing.F) {
	for _, s := range []string{"sk-ant-oat01-abcd", "sk-ant-oat01-ab'cd", " sk-ant-oat01-abcd\n", "sk-ant-oat01-\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tok, err := ParseToken(text)
		if (err == nil) == tok.IsZero() {
			t.Errorf("%v", err)
		}
		// What is taken is a word of sh that needs no quotes.
		if s := tok.reveal(); strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || err == nil && Redact(s) != tokenShown {
			t.Errorf("%q", s)
		}
	})
}
