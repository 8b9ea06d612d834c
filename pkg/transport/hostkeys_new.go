package transport

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/crypto/ssh"
)

// unknown applies StrictHostKeyChecking to a host that no file names. notes say
// what the files know nearby.
func (h *hostKeys) unknown(key ssh.PublicKey, notes []string) *Error {
	shown := fmt.Sprintf("the unknown %s key %s", key.Type(), ssh.FingerprintSHA256(key))
	switch {
	case h.judging:
		return h.refuse(key, notes, nil)
	case h.s.strict == "accept-new" || h.s.strict == "no":
		return h.accept(key, fmt.Sprintf("accepted %s (StrictHostKeyChecking %s)", shown, h.s.strict))
	case h.s.strict == "ask" && !h.s.batch && h.pool.canAsk(h.ctx):
		return h.consult(key, notes)
	}
	return h.refuse(key, notes, nil)
}

func (h *hostKeys) refuse(key ssh.PublicKey, notes []string, why error) *Error {
	err := fmt.Errorf("no known_hosts file has %s, which shows the %s key %s", h.where(), key.Type(), ssh.FingerprintSHA256(key))
	hint := h.trustHint(key)
	if h.fault != nil {
		err = fmt.Errorf("%s: %s; no known_hosts file has the %s key that it certifies, %s", h.where(), h.fault.what, key.Type(), ssh.FingerprintSHA256(key))
		hint = h.fault.hint
	}
	for _, n := range notes {
		err = fmt.Errorf("%w; %s", err, n)
	}
	if why != nil {
		err = fmt.Errorf("%w: %w", err, why)
	}
	return &Error{Kind: KindHostKeyUnknown, Endpoint: h.e, Err: err, Hint: hint}
}

// trustHint says how to make an unknown key known, by a way that works: ssh
// refuses the host too where it may ask nobody.
func (h *hostKeys) trustHint(key ssh.PublicKey) string {
	line := "\n" + Neutralise(h.names[0]+" "+strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))))
	hint := "compare the fingerprint with the host's own (ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub there), then "
	switch {
	case !h.keepsRecords():
		return hint + "name in ssh_config a UserKnownHostsFile that can have this line, and add it:" + line
	case h.s.strict == "yes" || h.s.batch:
		return hint + "add this line to " + Neutralise(h.s.userKnown[0]) + ", since ssh_config lets nobody be asked:" + line
	}
	return hint + "connect once with: " + h.e.sshCommand()
}

// keepsRecords is whether the user's known_hosts is, or would be, a file.
func (h *hostKeys) keepsRecords() bool {
	if len(h.s.userKnown) == 0 {
		return false
	}
	st, err := os.Stat(h.s.userKnown[0])
	return err != nil || st.Mode().IsRegular()
}

// accept takes a new key and records it. said is what the user is told.
func (h *hostKeys) accept(key ssh.PublicKey, said string) *Error {
	if len(h.s.userKnown) == 0 {
		h.say(fmt.Sprintf("%s: %s and kept no record of it (UserKnownHostsFile none)", h.where(), said))
		return nil
	}
	kept, err := recordHostKey(h.s.userKnown[0], h.names[0], key, h.s.hashKnown)
	switch {
	case errors.Is(err, errOtherKey):
		return &Error{
			Kind: KindHostKeyChanged, Endpoint: h.e, Err: fmt.Errorf("%s: %w", h.where(), err),
			Hint: "somebody else accepted another key for this name just now: see which one is the host's",
		}
	case err != nil: // ssh goes on, too
		h.say(fmt.Sprintf("%s: its key cannot be recorded: %v", h.where(), err))
	case !kept:
		said += fmt.Sprintf(" and kept no record of it (%s is no file)", h.s.userKnown[0])
	}
	h.say(h.where() + ": " + said)
	return nil
}

// consult asks the person. One unknown host is asked about at a time: of two
// names of one host, the second finds what was answered for the first.
func (h *hostKeys) consult(key ssh.PublicKey, notes []string) *Error {
	release, err := h.pool.keys.take(h.ctx, "known_hosts")
	if err != nil {
		return contextError(h.ctx, h.e, "waiting to ask for the key of "+h.where(), false)
	}
	defer release()
	h.read()
	for _, k := range marked(lookUp(h.entries, h.names[0]), markNone) {
		if sameKey(k.pub, key) {
			return nil
		}
	}
	fingerprint := ssh.FingerprintSHA256(key)
	q := Question{
		Kind: QuestionHostKey, Endpoint: h.e, Echo: true,
		Text:   fmt.Sprintf("Is this the key of %s? (yes, no or the fingerprint)", Neutralise(h.e.Destination)),
		Detail: NeutraliseLines(h.describe(key, notes)),
	}
	for range hostKeyTries {
		answer, err := h.pool.ask(h.ctx, q)
		switch answer = strings.TrimSpace(answer); {
		case h.ctx.Err() != nil:
			return contextError(h.ctx, h.e, "asking for the key of "+h.where(), false)
		case err != nil:
			return h.refuse(key, notes, unanswered("whether that is its key", err))
		case strings.EqualFold(answer, "yes"), answer == fingerprint:
			return h.accept(key, fmt.Sprintf("recorded the %s key %s, as you said", key.Type(), fingerprint))
		case strings.EqualFold(answer, "no"):
			return h.refuse(key, notes, errors.New("you did not take it for the host's"))
		}
		// Neither, so a slip: other questions may have shown between, hence the key again.
		q.Detail = fmt.Sprintf("Please type yes, no or the fingerprint. The %s key of %s has %s", key.Type(), Neutralise(h.where()), fingerprint)
	}
	return h.refuse(key, notes, errors.New("no answer was yes, no or the fingerprint"))
}

// hostKeyTries is how often a person is asked about one host before what is no
// answer counts as a no; OpenSSH asks for ever.
const hostKeyTries = 3

// describe is what a person needs to know an unknown key by.
func (h *hostKeys) describe(key ssh.PublicKey, notes []string) string {
	var b strings.Builder
	if h.fault != nil {
		fmt.Fprintf(&b, "%s: %s.\n", h.where(), h.fault.what)
	}
	fmt.Fprintf(&b, "%s is not known yet.\nIts %s key has the fingerprint %s\n", h.where(), key.Type(), ssh.FingerprintSHA256(key))
	for _, n := range notes {
		b.WriteString(n + "\n")
	}
	if names := h.otherNames(key); len(names) > 0 {
		b.WriteString("The same key is known for:\n  " + strings.Join(names, "\n  "))
	} else {
		b.WriteString("No other name is known to have this key.")
	}
	return b.String()
}

// maxOtherNames is how many names with the same key are shown.
const maxOtherNames = 8

// otherNames gives the entries that have key, wherever they say it is from.
func (h *hostKeys) otherNames(key ssh.PublicKey) []string {
	_, blob, _ := strings.Cut(strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))), " ")
	var out []string
	for _, e := range h.entries {
		if e.mark != markNone || e.blob != blob {
			continue
		}
		if len(out) == maxOtherNames {
			return append(out, "and more")
		}
		hosts := e.hosts
		if strings.HasPrefix(hosts, "|") {
			hosts = "a hashed name"
		}
		out = append(out, strings.Replace(e.at(), homeDir()+string(os.PathSeparator), "~/", 1)+": "+hosts)
	}
	return out
}
