package transport

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// environment is whose variables and directory decide how a host is reached. nil
// is this process's own, as it is at each use. It is never changed.
type environment struct {
	vars []string // NAME=value; of one name the last counts
	dir  string
}

// environmentOf is what o says.
func environmentOf(o Options) *environment {
	if o.Env == nil {
		return nil
	}
	return &environment{vars: o.Env, dir: o.Dir}
}

func (v *environment) all() []string {
	if v == nil {
		return os.Environ()
	}
	return v.vars
}

func (v *environment) lookup(name string) (string, bool) {
	if v == nil {
		return os.LookupEnv(name)
	}
	return lookUpVar(v.vars, name)
}

func (v *environment) get(name string) string {
	value, _ := v.lookup(name)
	return value
}

// lookUpVar finds a variable in a list as exec.Cmd has it.
func lookUpVar(vars []string, name string) (value string, ok bool) {
	for _, kv := range vars {
		if n, val, found := strings.Cut(kv, "="); found && n == name {
			value, ok = val, true
		}
	}
	return value, ok
}

// lookPath is exec.LookPath with the PATH of v.
func (v *environment) lookPath(file string) (string, error) {
	if v == nil {
		return exec.LookPath(file)
	}
	return LookPath(v.vars, file)
}

// LookPath is exec.LookPath for somebody else's environment, less the folders of
// its PATH that are no absolute names.
func LookPath(env []string, file string) (string, error) {
	path, _ := lookUpVar(env, "PATH")
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		name := filepath.Join(dir, file)
		if st, err := os.Stat(name); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return name, nil
		}
	}
	return "", &exec.Error{Name: file, Err: exec.ErrNotFound}
}

// give gives a command that is about to start the environment.
func (v *environment) give(cmd *exec.Cmd) {
	if v == nil {
		return
	}
	cmd.Env, cmd.Dir = v.vars, v.dir
	if len(cmd.Env) == 0 {
		cmd.Env = []string{"PATH="} // none at all would be this process's
	}
	if v.dir != "" && unix.Access(v.dir+"/.", unix.X_OK) != nil { // gone, no folder, or closed to this process
		cmd.Dir = "/"
	}
}

// loginVars are the variables that sshd makes for each login.
var loginVars = []string{"SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"}

// AnyLogin gives kv, a variable (NAME=value) of a login by ssh, as other logins from
// the same address have it too: without the port and without the terminal. Whether
// there is such a login, and from where, is what commands ask for. What else kv is,
// or has, stays as it is.
func AnyLogin(kv string) string {
	name, value, _ := strings.Cut(kv, "=")
	words := strings.Split(value, " ")
	switch {
	case name == "SSH_TTY" && value != "":
		return name + "=/dev/tty"
	case name == "SSH_CONNECTION" && len(words) == 4, name == "SSH_CLIENT" && len(words) == 3:
		words[1] = "0"
		return name + "=" + strings.Join(words, " ")
	}
	return kv
}
