package transport

import (
	"slices"
	"strings"
)

// hint says what to do about a refused login, then what was offered, and what
// was not and why.
func (l *login) hint(err error) string {
	lines := l.advice(err)
	for _, k := range l.locked {
		lines = append(lines, Neutralise(k.path+" stays locked: "+k.why))
	}
	var refused, taken []string
	for _, o := range l.offered {
		if o.unsigned == "" {
			refused = append(refused, o.name)
		} else {
			taken = append(taken, o.name)
		}
	}
	if len(taken) > 0 {
		lines = append(lines, "taken, but not signed with: "+strings.Join(taken, ", "))
	}
	if len(refused) > 0 {
		verb := "refused: "
		if len(l.accepted) > 0 {
			verb = "offered: "
		}
		lines = append(lines, verb+strings.Join(refused, ", "))
	}
	return strings.Join(append(lines, l.notes...), "\n")
}

// advice says what to do, what helps most first. It speaks of no method that
// the server does not take or ssh_config rules out.
func (l *login) advice(err error) []string {
	switch {
	case wantsNewPassword(err):
		return []string{"set a new password by a plain ssh to the host, then try again"}
	case tooMany(err) && !l.s.onlyIdentity:
		return []string{"name the right key by IdentityFile and set IdentitiesOnly yes in ssh_config, so that the agent's other keys are not offered"}
	}
	lines := slices.Clone(l.exposed)
	if len(l.locked) > 0 {
		lines = append(lines, l.unlocking())
	}
	answered := l.refusedAnswers(byPassword)+l.refusedAnswers(byKeyboard) > 0
	if answered {
		lines = append(lines, "the server said no to what was answered: see that the user is right, and that the password is the one of that account on the host")
	}
	refused := slices.ContainsFunc(l.offered, func(o offer) bool { return o.unsigned == "" })
	switch {
	case refused:
		lines = append(lines, "see that the server has one of these keys in the account's authorized_keys, and that the user is right")
	case l.tried(byKey) && len(l.offered) == 0 && answered && len(lines) == 1:
		lines = append(lines, "the server takes keys, too, and none was offered: name one with IdentityFile, or load one into an agent with ssh-add")
	case l.tried(byKey) && len(l.offered) == 0 && len(lines) == 0:
		lines = append(lines, "no key was offered: name one with IdentityFile, or load one into an agent with ssh-add")
	case len(l.offered) > 0 && len(lines) == 0:
		lines = append(lines, "see why the key did not sign, and the agent's keys by ssh-add -l")
	}
	if ok, _ := l.canAsk(); !ok && (l.tried(byPassword) || l.tried(byKeyboard)) && !l.s.batch && !l.silent {
		ask := "run it on a terminal to be asked for the password"
		if l.tried(byKey) {
			ask += ", or load a key into an agent with ssh-add"
		}
		lines = append(lines, ask)
	}
	if len(lines) == 0 {
		lines = append(lines, "see which ways to log in the server takes, and PreferredAuthentications in ssh_config")
	}
	return lines
}

// unlocking says how to get at the locked keys.
func (l *login) unlocking() string {
	add := "ssh-add"
	for _, k := range l.locked {
		add += " " + Quote(k.path)
	}
	add = Neutralise(add)
	switch {
	case l.s.batch:
		return "load the locked key into an agent: " + add + " (BatchMode is set, so that nobody is asked for its passphrase)"
	case !l.pool.canAsk(l.ctx):
		return "run it on a terminal to be asked for the key's passphrase, or load the key into an agent: " + add
	}
	return "try again with the key's passphrase, or load the key into an agent: " + add
}

// tried is whether the server takes a method that ssh_config does not rule out.
func (l *login) tried(method string) bool {
	on := map[string]bool{byKey: l.s.pubkey, byPassword: l.s.password, byKeyboard: l.s.keyboard}[method]
	return on && slices.Contains(l.allowed, method) && slices.Contains(l.order(), method)
}
