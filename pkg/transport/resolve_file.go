package transport

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/user"
	"slices"
	"strings"
)

// fileReader reads ssh_config for one destination without an ssh binary.
type fileReader struct {
	target target
	parser configParser

	// host is what Host lines are matched with: the destination, and in the
	// final pass its HostName.
	host  string
	final bool
	// applied are the lines of the blocks that apply, in order, less those
	// that come too late to count.
	applied []*configLine
	first   map[string]string // the first argument of each applied keyword
	// wantFinal is set when a Match final was met.
	wantFinal bool
	ran       bool
	warnings  []string
}

// resolveByFile reads ssh_config as OpenSSH does, including the order of its
// blocks, its patterns and its Match lines.
func resolveByFile(ctx context.Context, sources []configSource, k configKey) (*reading, error) {
	t := k.target
	r := &fileReader{parser: configParser{env: k.env}, target: t, host: t.host, first: map[string]string{"proxyjump": k.jump}}
	if t.user != "" {
		r.first["user"] = t.user
	}
	var files []*configFile
	for _, src := range sources {
		f, err := r.parser.parse(src, 0)
		if err != nil {
			return nil, err
		}
		if f != nil {
			files = append(files, f)
		}
	}
	if k.plainly && !arePlain(files) {
		return nil, errNotPlain
	}
	if err := r.pass(ctx, files); err != nil {
		return nil, err
	}
	host, err := r.hostSoFar()
	if err != nil {
		return nil, err
	}
	if _, err := netip.ParseAddr(host); err != nil {
		host = strings.ToLower(host)
	}
	if v := strings.ToLower(r.first["canonicalizehostname"]); v == "yes" || v == "true" || v == "always" {
		return nil, errors.New("CanonicalizeHostname is only understood where an ssh binary is installed")
	}
	if r.wantFinal {
		r.host, r.final, r.first["hostname"] = host, true, strings.ReplaceAll(host, "%", "%%")
		if err := r.pass(ctx, files); err != nil {
			return nil, err
		}
	}
	d, err := decode(r.applied)
	if err != nil {
		return nil, err
	}
	d["hostname"] = []string{host}
	return &reading{env: k.env, dump: d, source: sourceFiles, files: r.parser.files, folders: r.parser.folders, warnings: r.warnings, ran: r.ran, shape: r.shape(files, k)}, nil
}

// pass goes through all files once.
func (r *fileReader) pass(ctx context.Context, files []*configFile) error {
	for _, f := range files {
		if err := r.walk(ctx, f, true); err != nil {
			return err
		}
	}
	return nil
}

// walk goes through one file. may is whether it can apply at all: an Include in
// a block that does not apply cannot, whatever stands in the file.
func (r *fileReader) walk(ctx context.Context, f *configFile, may bool) error {
	active := may
	for i := range f.lines {
		l := &f.lines[i]
		switch {
		case l.key == "host":
			active = may && matchHostLine(r.host, l.args)
		case l.key == "match":
			v, err := r.match(ctx, l, may)
			if err != nil {
				return l.fails(err)
			}
			active = may && v.applies
			hangs := may && v.hangs
			if d := decisive(f.lines[i+1:]); d != nil && hangs {
				return l.fails(fmt.Errorf("%s cannot be evaluated without an ssh binary, and the block sets %s", Neutralise(v.unclear), d.known.name))
			}
			if v.unclear != "" && (hangs || !slices.Contains(onlySSHKnows, v.unclear)) {
				r.leaveOut(l, v.unclear)
			}
		case l.key == "include":
			for _, inc := range l.included {
				if err := r.walk(ctx, inc, active); err != nil {
					return err
				}
			}
		case l.known == nil:
			if !matchList(l.key, strings.ToLower(r.first["ignoreunknown"])) {
				return l.fails(errors.New("no such keyword"))
			}
		case active:
			r.apply(l)
		}
	}
	return nil
}

// onlySSHKnows are the criteria of OpenSSH that may have no answer here. Where
// nothing hangs on one, there is nothing to tell; another name may be a slip,
// for which ssh would refuse the file wherever it stands.
var onlySSHKnows = []string{"version", "localnetwork"}

// leaveOut warns, once, that the block of a Match line is left out.
func (r *fileReader) leaveOut(l *configLine, unclear string) {
	w := fmt.Sprintf("%s: this Match block is left out: %s cannot be evaluated without an ssh binary", l.where(), Neutralise(unclear))
	if !slices.Contains(r.warnings, w) {
		r.warnings = append(r.warnings, w)
	}
}

// decisive finds a line, up to the end of the block, that may not be left out
// because it decides where and as whom to connect or what to trust: without it
// we might go around a bastion, or log in as somebody else.
func decisive(block []configLine) *configLine {
	for i := range block {
		l := &block[i]
		if l.key == "host" || l.key == "match" {
			break
		}
		for _, f := range l.included {
			for j := range f.lines { // any block of it may apply
				if d := decisive(f.lines[j:]); d != nil {
					return d
				}
			}
		}
		if l.known != nil && l.known.fate == decides {
			return l
		}
	}
	return nil
}

// apply takes a line of a block that applies, unless it comes too late.
func (r *fileReader) apply(l *configLine) {
	value := l.rest
	if l.known.form != formRest && l.known.form != formJump {
		value = l.args[0]
	}
	switch l.key {
	case "proxyjump": // whichever comes first
		if r.first["proxyjump"]+r.first["proxycommand"] != "" {
			return
		}
	case "proxycommand": // ProxyJump none leaves it alone, unless a comment follows
		if none(strings.TrimLeft(r.first["proxyjump"], blanks+"=")) != "" || r.first["proxycommand"] != "" {
			return
		}
	case "connecttimeout", "serveraliveinterval": // none is as good as not set
		if none(value) == "" {
			return
		}
	case "identityfile", "certificatefile":
		if slices.ContainsFunc(r.applied, func(o *configLine) bool {
			return o.key == l.key && o.args[0] == value && o.file.user == l.file.user
		}) {
			return
		}
	}
	r.applied = append(r.applied, l)
	if r.first[l.key] == "" {
		r.first[l.key] = value
	}
}

// hostSoFar is the host as the lines up to here have it.
func (r *fileReader) hostSoFar() (string, error) {
	h := r.first["hostname"]
	if h == "" {
		return r.target.host, nil
	}
	x := &expander{tokens: map[byte]string{'%': "%", 'h': r.target.host}}
	if h = x.expandTokens(h); x.err != nil {
		return "", fmt.Errorf("HostName: %w", x.err)
	}
	return h, nil
}

func (r *fileReader) userSoFar() string {
	if u := r.first["user"]; u != "" {
		return u
	}
	return localUser()
}

func (r *fileReader) portSoFar() int {
	if r.target.port != 0 {
		return r.target.port
	}
	n, err := portNumber(r.first["port"])
	if err != nil {
		return 22
	}
	return n
}

func localUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
