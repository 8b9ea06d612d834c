package fleet

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// tokenVar is the variable by which the client is given a token.
const tokenVar = "CLAUDE_CODE_OAUTH_TOKEN"

// tokenPrefix begins every token of the kind that `claude setup-token` makes.
const tokenPrefix = "sk-ant-oat"

// maxToken bounds a token; one has about a hundred characters.
const maxToken = 4096

// Token is a login that `claude setup-token` gives: good for a year, and for
// inference only. However it is printed or formatted it shows as "[token]", and it
// does not marshal. The zero value is none.
type Token struct {
	// A pointer, since fmt goes into the fields of what holds a Token and calls no
	// method of those that are not exported.
	secret *string
}

// ParseToken checks the form of a token: white space around it is dropped, and
// what is left has to begin as those tokens do and to be one word of letters,
// digits, "_" and "-". The error is an *Error of ClassUsage that says what is wrong
// and shows nothing of the text.
func ParseToken(text string) (Token, error) {
	s := strings.TrimSpace(text)
	bad := func(what string) (Token, error) {
		return Token{}, &Error{Class: ClassUsage, Msg: "that is no token: " + what,
			Hint: "a token begins with " + tokenPrefix + " and is one word; claude setup-token makes one"}
	}
	switch {
	case s == "":
		return bad("it is empty")
	case len(s) > maxToken:
		return bad(fmt.Sprintf("it is longer than %d bytes", maxToken))
	case strings.ContainsFunc(s, unicode.IsSpace):
		return bad("it has white space in it")
	case strings.ContainsFunc(s, unicode.IsControl):
		return bad("it has control characters in it")
	case !strings.HasPrefix(s, tokenPrefix):
		return bad("it does not begin with " + tokenPrefix)
	case !tokenForm().MatchString(s):
		return bad("it has other characters in it than letters, digits, _ and -, or ends too early")
	}
	return Token{secret: &s}, nil
}

var (
	tokenForm  = lazyRegexp(`^` + tokenPrefix + `[0-9]{2,}-[A-Za-z0-9_-]{4,}$`)
	secretLike = lazyRegexp(`sk-ant-[A-Za-z0-9_-]*`)
)

// Redact replaces all in a text that looks like a secret of the service, or like
// the beginning of one.
func Redact(text string) string { return secretLike().ReplaceAllString(text, "[token]") }

// reveal is the token itself.
func (t Token) reveal() string {
	if t.secret == nil {
		return ""
	}
	return *t.secret
}

// IsZero tells whether there is none.
func (t Token) IsZero() bool { return t.secret == nil }

// Is tells whether the token is that text.
func (t Token) Is(text string) bool { return t.secret != nil && *t.secret == text }

const tokenShown = "[token]"

var errTokenText = errors.New("a token is not to be written out")

// String is the same for every token.
func (t Token) String() string { return tokenShown }

// Format writes String whatever the verb is.
func (t Token) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(tokenShown)) }

// MarshalJSON fails: a token in what is to be kept is a mistake.
func (t Token) MarshalJSON() ([]byte, error) { return nil, errTokenText }

// MarshalText fails as MarshalJSON does.
func (t Token) MarshalText() ([]byte, error) { return nil, errTokenText }
