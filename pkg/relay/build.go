package relay

import (
	"cmp"
	"fmt"
	"os"
	"os/user"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
)

const module = "github.com/claude-fleet/claude-fleet"

// ownVersion is version, or where that is empty the version of this module that
// the program was built with.
func ownVersion(version string) string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
			if m.Path == module && m.Version != "" && m.Replace == nil {
				return m.Version
			}
		}
	}
	return "(devel)"
}

// released is a version that names one source and no other.
var released = regexp.MustCompile(`^v(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?$`)

// build tells whether two programs have the same code here. A version of a release
// does; what else calls itself alike may be built from anything, and so is known
// by its executable.
func build(version string) (string, error) {
	if released.MatchString(version) {
		return version, nil
	}
	st, err := os.Stat(executable())
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %d %d", version, st.Size(), st.ModTime().UnixNano()), nil
}

// executable is the file that this process runs. It may be another by now.
func executable() string {
	name, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return name
}

// newer is whether version a is of a release after that of b.
func newer(a, b string) bool {
	x, y := released.FindStringSubmatch(a), released.FindStringSubmatch(b)
	if x == nil || y == nil {
		return false
	}
	for i := 1; i <= 3; i++ {
		m, _ := strconv.Atoi(x[i])
		n, _ := strconv.Atoi(y[i])
		if m != n {
			return m > n
		}
	}
	switch {
	case x[4] == y[4], x[4] != "" && y[4] == "":
		return false
	case x[4] == "":
		return true
	}
	return strings.Compare(x[4], y[4]) > 0
}

// place is what the names of files, hosts and accounts hang on. Two processes in
// different places do not mean the same by them.
type place struct {
	User    string `json:"user"`
	Home    string `json:"home"`
	Mount   string `json:"mount,omitempty"`   // namespaces, where the system has any
	Network string `json:"network,omitempty"` //
	Users   string `json:"users,omitempty"`
	Process string `json:"process,omitempty"`
}

func here() place {
	var p place
	if u, err := user.Current(); err == nil {
		p.User, p.Home = u.Username, u.HomeDir
	}
	p.Home = cmp.Or(p.Home, os.Getenv("HOME"))
	_ = p.spaces("self") // none elsewhere
	return p
}

// spaces notes the namespaces of a process, as far as they can be read.
func (p *place) spaces(pid string) (err error) {
	for name, at := range map[string]*string{"mnt": &p.Mount, "net": &p.Network, "user": &p.Users, "pid": &p.Process} {
		var rerr error
		if *at, rerr = os.Readlink("/proc/" + pid + "/ns/" + name); rerr != nil {
			err = rerr
		}
	}
	return err
}
