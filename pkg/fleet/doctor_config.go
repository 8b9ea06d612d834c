package fleet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// CheckConfig reads the fleet table as LoadTable does and judges the file: all
// that is wrong with it, and who may write it. The table is nil where there is a
// fault in it. It takes findings to Doctor's report on this machine.
func CheckConfig(path string) (*Table, []Finding) {
	table, err := LoadTable(path)
	if err != nil {
		return nil, configFaults(err)
	}
	if table.Path == "" {
		where := defaultConfigPath()
		return table, []Finding{note("config", "there is no fleet.conf; the fleet is one local host for the current directory",
			"other hosts have to be named in one", firstTable(where)).hinted("claude-fleet map --import prints one of the hosts in ssh_config")}
	}
	found := []Finding{good("config", fmt.Sprintf("%s names %s", printable(table.Path), counted(len(table.Hosts), "host")))}
	return table, append(found, configMode(table.Path)...)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// firstTable is the command that writes a table with this machine alone; empty
// where it is not known where to.
func firstTable(path string) string {
	if path == "" || checkLine(path) != nil {
		return ""
	}
	return "mkdir -p " + pasteWord(filepath.Dir(path)) + ` && printf '[hosts.here]\ntransport = "local"\n' > ` + pasteWord(path)
}

// configFaults makes a finding of each error in the file. An editor at the line
// is the command that mends it.
func configFaults(err error) []Finding {
	var found []Finding
	for _, e := range flatten(err) {
		f := faulty("config", transport.Neutralise(e.Error()), "without a table there is no fleet", "")
		var ce *ConfigError
		if errors.As(e, &ce) && checkLine(ce.File) == nil {
			switch {
			case errors.Is(e, fs.ErrNotExist):
				f.Remedy = firstTable(ce.File)
			case ce.Line > 0:
				f.Remedy = fmt.Sprintf(`"${EDITOR:-vi}" +%d %s`, ce.Line, pasteWord(ce.File))
			}
			f.Hint = printable(ce.Hint)
		}
		found = append(found, f)
	}
	return found
}

// flatten takes joined errors apart.
func flatten(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()
	}
	return []error{err}
}

// configMode judges who may write the file. What it says is run on the hosts, so
// that whoever writes it acts as its reader.
func configMode(path string) []Finding {
	const id = "config-mode"
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil // a pipe
	}
	if path, err = filepath.Abs(path); err != nil || checkLine(path) != nil {
		return nil
	}
	for _, p := range []string{path, filepath.Dir(path)} {
		if why := othersWrite(p); why != "" {
			remedy := "chmod go-w " + pasteWord(p)
			if owned := ownedByOther(p); owned {
				remedy = "sudo chown " + strconv.Itoa(os.Getuid()) + " " + pasteWord(p) + " && " + remedy
			}
			return []Finding{faulty(id, printable(p)+why, "whoever writes it decides which commands run, here and on the hosts", remedy)}
		}
	}
	return []Finding{good(id, "only you can write it")}
}

// othersWrite says why others than the account and root can write a file; empty if
// they can't. In a folder with the sticky bit nobody replaces what is another's.
func othersWrite(path string) string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return ""
	case ownedByOther(path):
		return " belongs to another account"
	case info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0:
		return fmt.Sprintf(" can be written by others (mode %04o)", info.Mode().Perm())
	}
	return ""
}

// ownedByOther is whether a file belongs to neither the account nor root.
func ownedByOther(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	return ok && sys.Uid != 0 && int(sys.Uid) != os.Getuid()
}
