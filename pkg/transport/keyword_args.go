package transport

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// check refuses arguments that OpenSSH would refuse, in whatever block they
// stand: a file with a mistake in it is mended, not half read.
func (k *keyword) check(env *environment, args []string, rest string) error {
	if k.form == formRest || k.form == formJump {
		if k.form == formJump {
			_, err := jumpSpec(rest)
			return err
		}
		return nil
	}
	if len(args) == 0 || args[0] == "" {
		return errors.New("its argument is missing")
	}
	switch k.form {
	case formLoose, formWords:
		return nil
	case formFiles:
		if len(args) > 1 && slices.ContainsFunc(args, func(a string) bool { return none(a) == "" }) {
			return errors.New("none must stand alone")
		}
		return nil
	case formNames, formPairs:
		for _, a := range args {
			if a == "" || strings.Contains(a, "=") != (k.form == formPairs) {
				return fmt.Errorf("%q is no %s", a, map[form]string{formNames: "name of a variable", formPairs: "NAME=VALUE"}[k.form])
			}
		}
		return nil
	}
	if len(args) > 1 {
		return fmt.Errorf("extra arguments: %q", args[1:])
	}
	return k.checkOne(env, args[0])
}

func (k *keyword) checkOne(env *environment, v string) error {
	choices := yesNo
	switch k.form {
	case formCount:
		if n, err := strconv.ParseInt(v, 10, 32); err != nil || n < 0 {
			return fmt.Errorf("%q is no number from 0 up", v)
		}
		return nil
	case formPort:
		_, err := portNumber(v)
		return err
	case formTime:
		_, err := seconds(v)
		return err
	case formAlgos:
		if strings.ContainsFunc(v[1:], func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"'=+^#`, r) }) || v[0] == '=' {
			return fmt.Errorf("%q is no list of algorithms", v)
		}
		return nil
	case formAgent:
		return checkAgent(env, v)
	case formChoice:
		choices = k.values
	case formFlag:
	default:
		return nil
	}
	if !slices.Contains(strings.Fields(choices), strings.ToLower(v)) {
		return fmt.Errorf("%q is none of %s", v, strings.Join(strings.Fields(choices), ", "))
	}
	return nil
}

// portNumber reads a port, or the name of a service that has one.
func portNumber(v string) (int, error) {
	if n, err := strconv.Atoi(v); err == nil && n > 0 && n < 1<<16 {
		return n, nil
	}
	if !strings.ContainsAny(v, "0123456789+- ") {
		if n, err := net.LookupPort("tcp", v); err == nil && n > 0 {
			return n, nil
		}
	}
	return 0, fmt.Errorf("port %q is none", v)
}

// checkAgent looks at the variables that the path of an agent's socket names.
func checkAgent(env *environment, v string) error {
	if name, ok := strings.CutPrefix(v, "$"); ok && !strings.HasPrefix(name, "{") {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		}) {
			return fmt.Errorf("%q names no variable", v)
		}
	}
	_, err := expandVariables(env, v)
	return err
}

// expandVariables replaces ${NAME} by what the environment has for it.
func expandVariables(env *environment, s string) (string, error) {
	var b strings.Builder
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			return b.String() + s, nil
		}
		n := strings.IndexByte(s[i:], '}')
		if n < 0 {
			return "", fmt.Errorf("%q has no closing brace", s)
		}
		v, ok := env.lookup(s[i+2 : i+n])
		if !ok {
			return "", fmt.Errorf("%q: the environment has no %s", s, s[i+2:i+n])
		}
		b.WriteString(s[:i] + v)
		s = s[i+n+1:]
	}
}

// jumpSpec reads the rest of a ProxyJump line and gives it as ssh -G prints it:
// no comment, and the last hop in its plain form. OpenSSH takes no quotes there.
func jumpSpec(rest string) (string, error) {
	rest = strings.TrimLeft(rest, blanks+"=")
	if i := strings.IndexAny(rest, blanks+"#"); i >= 0 {
		rest = rest[:i]
	}
	if none(rest) == "" {
		return "none", nil
	}
	hops := strings.Split(rest, ",")
	last := len(hops) - 1
	for i, h := range hops {
		plain, err := plainHop(h)
		if err != nil {
			return "", fmt.Errorf("hop %q: %w", h, err)
		}
		if i == last {
			hops[i] = plain
		}
	}
	return strings.Join(hops, ","), nil
}

func plainHop(hop string) (string, error) {
	user, host, port := "", strings.TrimSuffix(strings.TrimPrefix(hop, "ssh://"), "/"), ""
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		if user, host = host[:i+1], host[i+1:]; user == "@" {
			return "", errors.New("its user is missing")
		}
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		var tail string
		if host, tail, ok = strings.Cut(inner, "]"); !ok || tail != "" && tail[0] != ':' {
			return "", errors.New("its brackets do not match")
		}
		port = tail
	} else if i := strings.IndexByte(host, ':'); i >= 0 {
		host, port = host[:i], host[i:]
	}
	if port != "" {
		n, err := portNumber(port[1:])
		if err != nil {
			return "", err
		}
		port = ":" + strconv.Itoa(n)
	}
	if host == "" {
		return "", errors.New("its host is missing")
	}
	if strings.Contains(host, ":") || strings.Trim(host, "0123456789.") == "" {
		host = "[" + host + "]"
	}
	return user + host + port, nil
}
