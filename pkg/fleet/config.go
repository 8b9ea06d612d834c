package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"
)

// ConfigEnv names the variable that says where the fleet.conf is.
const ConfigEnv = "CLAUDE_FLEET_CONFIG"

// maxConfigBytes is more than ten thousand hosts; what is longer is the wrong
// file.
const maxConfigBytes = 1 << 20

// LoadTable reads the fleet.conf at path. An empty path means the usual places:
// the file that $CLAUDE_FLEET_CONFIG names, else claude-fleet/fleet.conf in
// $XDG_CONFIG_HOME or, without that, in ~/.config. With no file in the last two
// the table is one local host for the current directory.
//
// A file that was asked for, by path or by $CLAUDE_FLEET_CONFIG, has to exist.
// The errors are *ConfigError, joined as ParseTable joins them.
func LoadTable(path string) (*Table, error) {
	if path == "" {
		path = os.Getenv(ConfigEnv)
	}
	if path != "" {
		return loadFile(path)
	}
	path = defaultConfigPath()
	if path == "" {
		return builtinTable()
	}
	table, err := loadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return builtinTable()
	}
	return table, err
}

// defaultConfigPath is where a user's fleet.conf belongs; empty when there is
// no home folder to look in.
func defaultConfigPath() string {
	folder := os.Getenv("XDG_CONFIG_HOME")
	// The XDG specification has a relative value ignored.
	if !filepath.IsAbs(folder) {
		home, err := homeDir()
		if err != nil {
			return ""
		}
		folder = filepath.Join(home, ".config")
	}
	return filepath.Join(folder, "claude-fleet", "fleet.conf")
}

func loadFile(path string) (*Table, error) {
	data, err := readConfig(path)
	if err != nil {
		return nil, err
	}
	return ParseTable(path, data)
}

// readConfig reads a file or a pipe (a shell's <(…)), a byte more than is
// allowed at most, so that ParseTable sees that it is too long.
func readConfig(path string) ([]byte, error) {
	fail := func(msg, hint string, err error) ([]byte, error) {
		return nil, &ConfigError{File: path, Msg: msg, Hint: hint, err: err}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail("no such file", "make it, or name another file, in the call or by $"+ConfigEnv, err)
	case err != nil:
		return fail("cannot be looked at: "+systemReason(err), "check the rights of the file and of its folders", err)
	case info.IsDir():
		return fail("is a directory", "name the file in it", nil)
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeNamedPipe == 0:
		return fail("is neither a file nor a pipe", "name a file", nil)
	}
	// Opening a pipe that nobody writes to would wait for ever, and so would
	// reading one whose writer says nothing. A plain file heeds neither.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fail("cannot be opened: "+systemReason(err), "check the rights of the file", err)
	}
	defer func() { _ = f.Close() }()
	_ = f.SetReadDeadline(time.Now().Add(DefaultTimeout))
	data, err := io.ReadAll(io.LimitReader(f, maxConfigBytes+1))
	if err != nil {
		return fail("cannot be read: "+systemReason(err), "try to read it with cat", err)
	}
	return data, nil
}

// systemReason drops the path of a system error, which the message starts with
// already.
func systemReason(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}

// ParseTable reads a fleet.conf from data. Its name is used in errors, as
// Table.Path, and for its folder, to which a relative ssh_config is relative.
// It asks the system for the home and the current folder, and touches no file.
//
// Both forms are read: TOML, and the old one of columns (host project workdir
// [transport] [session]). The first line that is neither empty nor a comment
// decides: a [table] or a key = value is TOML, anything else is columns.
//
// All that is wrong is reported, as *ConfigError joined in the order of lines;
// what is wrong with the text as such, like a slip in TOML's syntax, is reported
// alone, since nothing behind it can be trusted.
func ParseTable(name string, data []byte) (*Table, error) {
	p := &problems{file: name}
	text := checkText(p, data)
	if name, line := foreignForm(text); name != "" && len(p.list) == 0 {
		p.add(line, "", fault{"looks like " + name, "write it as TOML: [hosts.NAME], and below it a line each, such as workdir = \"~/src\""})
	}
	if len(p.list) > 0 {
		return nil, p.err()
	}
	var f configFile
	if form := formOf(text); form.toml {
		f = readTOML(p, text, form)
	} else {
		f = readColumns(p, text, form)
	}
	hosts := resolve(p, f)
	if len(p.list) == 0 && len(hosts) == 0 {
		// An emptied file must not pass for a fleet in which all is well.
		p.add(1, "", fault{"holds no hosts", "add a [hosts.NAME] table"})
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return &Table{Path: name, Hosts: hosts}, nil
}

// checkText makes sure that data is text both readers can walk, and returns it
// without its byte order mark.
func checkText(p *problems, data []byte) string {
	if len(data) > maxConfigBytes {
		p.add(0, "", fault{"is over 1 MiB", "this is hardly a fleet.conf; check the path"})
		return ""
	}
	text := string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	line := 1
	for i, r := range text {
		var f fault
		switch {
		case r == '\n':
			line++
			continue
		case r == '\r' && strings.HasPrefix(text[i+1:], "\n"), r == '\t':
			continue
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			f = fault{fmt.Sprintf("byte 0x%02x is not UTF-8", text[i]), "save the file as UTF-8"}
		case r == 0:
			f = fault{"holds a NUL byte", "save the file as UTF-8, not UTF-16"}
		case r == '\r':
			f = fault{"a carriage return that ends no line", "save the file with Unix line ends"}
		case unicode.IsControl(r):
			f = fault{fmt.Sprintf("control character U+%04X", r), "take it out"}
		default:
			continue
		}
		p.add(line, "", f)
		return ""
	}
	return text
}
