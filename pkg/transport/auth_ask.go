package transport

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

const (
	// keyboardRounds and keyboardQuestions bound what a server may ask in one
	// keyboard-interactive login; real ones ask one to three things, once or twice.
	keyboardRounds    = 16
	keyboardQuestions = 16
	// questionLength is how much of a server's words is shown, in bytes.
	questionLength = 4 << 10
)

// nextPassword asks for the password, as often as NumberOfPasswordPrompts says.
func (l *login) nextPassword() ssh.AuthMethod {
	switch ok, why := l.canAsk(); {
	case !l.s.password:
		l.note("password: PasswordAuthentication is off")
		return nil
	case l.passwords: // all tries are used up, or it ended by something else than a no
		return nil
	case !ok:
		l.note("password: not tried, %s", why)
		return nil
	case l.s.prompts < 1:
		l.note("password: NumberOfPasswordPrompts is %d", l.s.prompts)
		return nil
	}
	l.passwords = true
	again := ""
	return ssh.RetryableAuthMethod(ssh.PasswordCallback(func() (string, error) {
		q := Question{Kind: QuestionPassword, Text: "Password of " + l.account() + ":", Detail: again}
		again = "The password was not accepted."
		answer, err := l.ask("for the password of "+l.account(), q)
		if err == nil {
			l.given[byPassword]++
		}
		return answer, err
	}), l.s.prompts)
}

// nextKeyboard lets the server ask in its own words, as often as
// NumberOfPasswordPrompts says. A server that offers the method but asks
// nothing is not tried again.
func (l *login) nextKeyboard() ssh.AuthMethod {
	switch ok, why := l.canAsk(); {
	case !l.s.keyboard:
		l.note("keyboard-interactive: KbdInteractiveAuthentication is off")
		return nil
	case l.keyboards > 0 && !l.talked, l.keyboards > 0 && l.keyboards >= l.s.prompts:
		return nil
	case !ok:
		l.note("keyboard-interactive: not tried, %s", why)
		return nil
	case l.s.prompts < 1:
		l.note("keyboard-interactive: NumberOfPasswordPrompts is %d", l.s.prompts)
		return nil
	}
	l.keyboards++
	l.talked = false
	rounds, answered := 0, false
	return ssh.KeyboardInteractive(func(name, instruction string, questions []string, echos []bool) ([]string, error) {
		l.talked = true
		if rounds++; rounds > keyboardRounds || len(questions) > keyboardQuestions {
			return nil, errors.New("the server asks too much")
		}
		detail := fmt.Sprintf("%s asks:", l.account())
		for _, part := range []string{name, instruction} {
			if part = strings.TrimSpace(clip(part)); part != "" {
				detail += "\n" + part
			}
		}
		answers := make([]string, 0, len(questions))
		for i, text := range questions {
			answer, err := l.ask("by the server", Question{
				Kind: QuestionKeyboard, Echo: echos[i], Detail: detail,
				Text: fmt.Sprintf("(%s) %s", l.account(), strings.TrimSpace(clip(text))),
			})
			if err != nil {
				return nil, err
			}
			answers, detail = append(answers, answer), ""
			if !answered {
				answered = true
				l.given[byKeyboard]++
			}
		}
		return answers, nil
	})
}

// clip cuts what is longer than anybody reads.
func clip(s string) string {
	if len(s) > questionLength {
		return s[:questionLength] + " ..."
	}
	return s
}
