package transcript

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// account is a made-up home with the client's files, on which the fragments run.
type account struct {
	t    *testing.T
	base string // the folder of the client's files
	sh   string // the program that runs them
}

// posixShells are programs that serve as /bin/sh somewhere; the first is what
// the transport runs here.
var posixShells = []string{"", "bash"}

// kits are the programs that an account may have, "SHELL/AWK", or "SHELL/AWK/LACK"
// where it lacks a program. A machine has some of them.
func kits(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, sh := range []string{"dash", "bash --posix", "busybox sh", "mksh", "ksh", "zsh --emulate sh"} {
		if _, err := exec.LookPath(strings.Fields(sh)[0]); err == nil {
			found = append(found, sh+"/awk")
		}
	}
	if len(found) < 2 {
		t.Fatal("scripts/setup test installs dash and bash")
	}
	for _, awk := range []string{"mawk", "gawk", "gawk --posix", "original-awk", "busybox awk"} {
		if _, err := exec.LookPath(strings.Fields(awk)[0]); err == nil {
			found = append(found, "dash/"+awk)
		}
	}
	return append(found, "dash/false", "dash/awk/stat", "dash/awk/tail", "dash/false/stat")
}

// installed tells whether a machine has the shell of a kit.
func installed(kit string) bool {
	if kit == "" {
		return true
	}
	_, err := exec.LookPath(strings.FieldsFunc(kit, func(r rune) bool { return r == ' ' || r == '/' })[0])
	return err == nil
}

// uses puts a kit into the account.
func (a *account) uses(kit string) {
	a.t.Helper()
	dir := filepath.Join(a.t.TempDir(), "kit")
	a.mkdir(dir)
	a.t.Setenv("PATH", dir+":"+strings.Join(slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(d string) bool { return filepath.Base(d) == "kit" }), ":"))
	if kit == "" {
		return
	}
	words := append(strings.Split(kit, "/"), "")
	a.sh = words[0]
	put := func(name, text string) { writeProgram(a.t, filepath.Join(dir, name), "#!/bin/sh\n"+text+"\n") }
	if words[1] != "awk" {
		put("awk", "exec "+words[1]+` "$@"`)
	}
	switch words[2] {
	case "stat":
		put("stat", "exit 1")
	case "tail": // one that takes a single file, as POSIX has it
		put("tail", `case $1 in -c) [ $# -eq 3 ] || exit 1 ;; esac; exec /usr/bin/tail "$@"`)
	}
}

func newAccount(t *testing.T) *account {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	return &account{t: t, base: filepath.Join(home, ".claude")}
}

func (a *account) write(name, text string) string {
	a.t.Helper()
	path := filepath.Join(a.base, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

// path is where a file is; one that is named whole is there.
func (a *account) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.base, name)
}

func (a *account) mkdir(name string) {
	a.t.Helper()
	if err := os.MkdirAll(a.path(name), 0o700); err != nil {
		a.t.Fatal(err)
	}
}

func (a *account) rename(from, to string) {
	a.t.Helper()
	if err := os.Rename(a.path(from), a.path(to)); err != nil {
		a.t.Fatal(err)
	}
}

// age makes a file so old.
func (a *account) age(path string, d time.Duration) {
	a.t.Helper()
	at := time.Now().Add(-d)
	if err := os.Chtimes(path, at, at); err != nil {
		a.t.Fatal(err)
	}
}

// run runs a fragment as a probe does: with others, in a section of its own.
func (a *account) run(fragment string) []byte {
	a.t.Helper()
	sections := transport.NewSections()
	sections.Add("it", fragment)
	ctx, cancel := context.WithTimeout(a.t.Context(), 30*time.Second)
	defer cancel()
	var out []byte
	if a.sh == "" {
		pool := transport.NewPool(transport.Options{})
		defer func() { _ = pool.Close() }()
		res, err := pool.Conn(transport.Endpoint{Local: true}).Run(ctx, transport.Script{Text: sections.Script()})
		if err != nil {
			a.t.Fatal(err)
		}
		if len(res.Stderr) > 0 {
			a.t.Errorf("it complains: %s", res.Stderr)
		}
		out = res.Stdout
	} else {
		words := strings.Fields(a.sh)
		cmd := exec.CommandContext(ctx, words[0], append(words[1:], "-c", sections.Script())...)
		cmd.WaitDelay = time.Second
		var err error
		if out, err = cmd.Output(); err != nil {
			a.t.Fatal(err)
		}
	}
	parts, err := sections.Parse(out)
	if err != nil {
		a.t.Fatal(err)
	}
	if code := parts["it"].ExitCode; code != 0 {
		a.t.Errorf("exit code %d", code)
	}
	return parts["it"].Out
}

// startOf is the start time of a process as its client would note it.
func startOf(t *testing.T, pid int) string {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return fields[19]
}

// deadPID is the id of a process that has ended.
func deadPID(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// sample is a session file of client 2.1.332, with these values.
func sample(t *testing.T, pid int, id, start string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/session.json")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(`"pid":12602`, `"pid":`+strconv.Itoa(pid), `"487143"`, `"`+start+`"`, sampleID, id).Replace(string(text))
}

const sampleID = "3fd70c0a-bae9-4c47-8e9e-2c7f4542fa61"

// conversation is what client 2.1.332 wrote of: a prompt, a tool, a slash
// command, a paste shown as a placeholder, a shell command, a refusal. Records of
// the types that are passed over are cut short.
func conversation(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/conversation.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// prompt is a user record.
func prompt(id, dir, text string) string {
	return fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":%s},"uuid":%s,"cwd":%s,"sessionId":"x"}`+"\n", quoted(text), quoted(id), quoted(dir))
}

// writeProgram writes a program that can be run.
func writeProgram(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}
