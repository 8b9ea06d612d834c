package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxConfigSize bounds a file, which may be a device without an end.
const maxConfigSize = 16 << 20

// maxIncludes is how deep files may include files; OpenSSH's own number.
const maxIncludes = 16

// configFile is one file of ssh_config, parsed but not judged.
type configFile struct {
	path  string
	user  bool // the user's: its relative names are under ~/.ssh
	lines []configLine
}

// configLine is one line that holds a keyword.
type configLine struct {
	file  *configFile
	n     int    // from 1
	key   string // lower case
	known *keyword
	rest  string
	args  []string
	// included are the files of an Include, in order.
	included []*configFile
}

// where is file:line.
func (l *configLine) where() string { return fmt.Sprintf("%s:%d", Neutralise(l.file.path), l.n) }

// fails makes an error of the line.
func (l *configLine) fails(err error) error {
	name := map[string]string{"host": "Host", "match": "Match", "include": "Include"}[l.key]
	switch {
	case l.known != nil:
		name = l.known.name
	case name == "":
		name = l.key
	}
	return fmt.Errorf("%s: %s: %w", l.where(), Neutralise(name), err)
}

// configSource is a file to begin with.
type configSource struct {
	path     string
	user     bool
	optional bool // it may be missing
	checked  bool // its owner and mode matter
}

// usualSources are the files that ssh reads for configFile, its -F.
func usualSources(configFile string) []configSource {
	switch {
	case configFile == "":
		return []configSource{
			{path: filepath.Join(homeDir(), ".ssh", "config"), user: true, optional: true, checked: true},
			{path: systemConfig, optional: true},
		}
	case none(configFile) == "":
		return nil
	}
	return []configSource{{path: configFile, user: true}}
}

// systemConfig is the file that is read after the user's.
const systemConfig = "/etc/ssh/ssh_config"

// configParser reads files, and those that they include.
type configParser struct {
	env     *environment
	files   []string // what was read, each once
	folders []string // where an Include looked for more
}

// parse reads one file; nil without an error means that there is none.
func (p *configParser) parse(src configSource, depth int) (*configFile, error) {
	if depth > maxIncludes {
		return nil, fmt.Errorf("%s: more than %d files include one another", Neutralise(src.path), maxIncludes)
	}
	text, err := readConfig(src)
	switch {
	case errors.Is(err, fs.ErrNotExist) && src.optional:
		return nil, nil
	case err != nil:
		return nil, err
	}
	if !slices.Contains(p.files, src.path) {
		p.files = append(p.files, src.path)
	}
	f := &configFile{path: src.path, user: src.user}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		l := configLine{file: f, n: n}
		if l.key, l.rest, err = keywordOf(string(line)); err != nil {
			return nil, fmt.Errorf("%s: %w", l.where(), err)
		}
		if l.key == "" {
			continue
		}
		keep, err := p.line(&l, depth)
		if err != nil {
			return nil, l.fails(err)
		}
		if keep {
			f.lines = append(f.lines, l)
		}
	}
	return f, nil
}

// line settles one line; keep is false for a keyword that means nothing.
func (p *configParser) line(l *configLine, depth int) (keep bool, err error) {
	l.key = strings.ToLower(l.key)
	if l.rest == "" {
		return false, errors.New("its argument is missing")
	}
	if l.args, err = splitArgs(l.rest); err != nil {
		return false, err
	}
	if other, ok := keywordAliases[l.key]; ok {
		if other == "" {
			return false, nil
		}
		l.key = other
	}
	switch l.key {
	case "host":
		if len(l.args) > 0 && slices.Contains(l.args, "") {
			return false, errors.New("a pattern is empty")
		}
		return true, nil
	case "match":
		return true, nil
	case "include":
		return true, p.include(l, depth)
	}
	// What is unknown may be ignored: that is known when it is met.
	if l.known = byKeyword[l.key]; l.known != nil {
		err = l.known.check(p.env, l.args, l.rest)
	}
	return true, err
}

// include reads the files of an Include, whether its block applies or not, as
// OpenSSH does.
func (p *configParser) include(l *configLine, depth int) error {
	for _, pattern := range l.args {
		if strings.HasPrefix(pattern, "~") {
			if !l.file.user {
				return errors.New("a system's file cannot include what is in a home")
			}
			pattern = tilde(pattern)
		}
		if !filepath.IsAbs(pattern) {
			dir := filepath.Dir(systemConfig)
			if l.file.user {
				dir = filepath.Join(homeDir(), ".ssh")
			}
			pattern = filepath.Join(dir, pattern)
		}
		p.folders = append(p.folders, filepath.Dir(pattern))
		names, err := filepath.Glob(pattern)
		if err != nil {
			return fmt.Errorf("%q: %w", pattern, err)
		}
		for _, name := range names {
			// A * finds no hidden file in a shell, unlike in Glob.
			base := filepath.Base(name)
			if st, err := os.Stat(name); err == nil && st.IsDir() || strings.HasPrefix(base, ".") && !strings.HasPrefix(filepath.Base(pattern), ".") {
				continue
			}
			f, err := p.parse(configSource{path: name, user: l.file.user, optional: true, checked: true}, depth+1)
			if err != nil {
				return err
			}
			if f != nil {
				l.included = append(l.included, f)
			}
		}
	}
	return nil
}

// readConfig reads a file. One that others may write could make us connect
// elsewhere: like OpenSSH, do not take it.
func readConfig(src configSource) ([]byte, error) {
	// A pipe would be waited for until somebody writes to it.
	f, err := os.OpenFile(src.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); src.checked && (st.Mode().Perm()&0o022 != 0 || ok && sys.Uid != 0 && int(sys.Uid) != os.Getuid()) {
		return nil, fmt.Errorf("%s: bad owner or permissions: it must be yours or root's, and nobody else may write it", Neutralise(src.path))
	}
	if st.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0 {
		return nil, fmt.Errorf("%s: is a pipe", Neutralise(src.path))
	}
	text, err := io.ReadAll(io.LimitReader(f, maxConfigSize+1))
	if len(text) > maxConfigSize {
		return nil, fmt.Errorf("%s: is larger than 16 MiB", Neutralise(src.path))
	}
	return text, err
}
