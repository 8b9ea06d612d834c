package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/internal/rig"
)

// operatorEnv makes the test binary an operator of its own, for the test to
// kill: it runs the script that is its second argument on the endpoint that is
// its first (a config file with a host "box"; local without).
const operatorEnv = "TRANSPORT_TEST_OPERATOR"

func operator(config, text string) int {
	e := Endpoint{Local: config == ""}
	if config != "" {
		e = Endpoint{Destination: "box", ConfigFile: config}
	}
	p := NewPool(Options{})
	s := Script{Text: text, Finish: os.Getenv(operatorEnv) == "finish", Repeatable: os.Getenv(operatorEnv) == "repeat"}
	for range shellAfter + 1 {
		if s.Repeatable { // in the persistent shell
			_, _ = p.Conn(e).Run(context.Background(), Script{Text: ":", Repeatable: true})
		}
	}
	res, err := p.Conn(e).Run(context.Background(), s)
	fmt.Println(string(res.Stdout), err)
	_, _ = os.Stdin.Read(make([]byte, 1)) // the pool stays open until the test says so
	return 0
}

// startOperator starts an operator on e, and gives what it prints when its
// script is over, and what kills it.
func startOperator(t *testing.T, e Endpoint, s Script) (said *screen, kill func()) {
	t.Helper()
	said = &screen{}
	cmd := exec.Command(os.Args[0], e.ConfigFile, s.Text)
	how := "end"
	if s.Finish {
		how = "finish"
	}
	if s.Repeatable {
		how = "repeat"
	}
	cmd.Env = append(os.Environ(), operatorEnv+"="+how)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = in.Close()
	}
	t.Cleanup(kill)
	return said, kill
}

// idsText is sh that leaves the id of the script's shell, which leads its group,
// in file.
func idsText(file string) string {
	return fmt.Sprintf("echo $$ >%s.new; mv %s.new %s\n", file, file, file)
}

// idFrom waits for a process id in file.
func idFrom(t *testing.T, file string) int {
	t.Helper()
	var pid int
	eventually(t, "the script has begun", func() bool {
		text, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return pid > 1
	})
	return pid
}

// inGroup lists what runs in the process group of pid.
func inGroup(pid int) []string {
	shown, _ := exec.Command("ps", "-eo", "pgid=,stat=,args=").Output()
	var out []string
	for line := range bytes.Lines(shown) {
		f := strings.Fields(string(line))
		if len(f) > 2 && f[0] == strconv.Itoa(pid) && !strings.HasPrefix(f[1], "Z") {
			out = append(out, strings.Join(f[2:], " "))
		}
	}
	return out
}

func wantGroupGone(t *testing.T, pid int) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("left running: %q", inGroup(pid))
			_ = syscall.Kill(-pid, syscall.SIGKILL)
		}
	}()
	eventually(t, "the script's processes are gone", func() bool { return len(inGroup(pid)) == 0 })
}

// lasting are scripts that would go on for ten minutes.
var lasting = []struct{ name, text string }{
	{"plain", "sleep 600"},
	{"busy with output", "while :; do echo y; done >&2 & sleep 600"},
	{"ignoring TERM", "trap '' TERM; sh -c 'while :; do sleep 600; done'; sleep 600"},
	{"silent", "exec >/dev/null 2>&1; trap '' TERM HUP; while :; do sleep 600; done"},
}

// conformOperator holds that nothing outlives an operator that was killed
// outright, save what a script that had ended left running on purpose.
func conformOperator(t *testing.T, e Endpoint) {
	t.Run("an operator that is killed", func(t *testing.T) {
		for _, tc := range lasting {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "pid")
				_, kill := startOperator(t, e, Script{Text: idsText(file) + tc.text})
				pid := idFrom(t, file)
				kill()
				wantGroupGone(t, pid)
			})
		}
		t.Run("under a script that is to finish", func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pid")
			_, kill := startOperator(t, e, Script{Text: finishing(file), Finish: true})
			pid := idFrom(t, file)
			kill()
			wantFinished(t, file, pid)
		})
		t.Run("after the script's end", func(t *testing.T) {
			t.Parallel()
			file, mark := filepath.Join(t.TempDir(), "pid"), filepath.Join(t.TempDir(), "mark")
			said, kill := startOperator(t, e, Script{Text: "sh -c 'echo $$ >" + file + "; exec sleep 600' & while ! [ -s " + file + " ]; do sleep 0.1; done"})
			pid := idFrom(t, file)
			defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
			// From then on the operator's end is no longer its business.
			eventually(t, "the script is over", func() bool { return said.String() == " <nil>\n" })
			kill()
			// A second operator comes and goes: time enough for a watchdog.
			_, kill = startOperator(t, e, Script{Text: idsText(mark) + "sleep 600"})
			other := idFrom(t, mark)
			kill()
			wantGroupGone(t, other)
			if !alive(pid) {
				t.Error("the background process was ended")
			}
		})
	})
}

// finishing is a script that takes longer than a watchdog would let it, and says
// when it is through.
func finishing(file string) string {
	return idsText(file) + "for i in 1 2 3; do sleep 1; done; touch " + file + ".done"
}

// wantFinished waits for the end of finishing, and of all that belongs to it.
func wantFinished(t *testing.T, file string, pid int) {
	t.Helper()
	eventually(t, "the script is through", func() bool { _, err := os.Stat(file + ".done"); return err == nil })
	wantGroupGone(t, pid)
}

// proxied gives s as seen through a proxy, under the alias "box".
func proxied(t testing.TB, s *server) (Endpoint, *rig.Proxy) {
	t.Helper()
	p, err := rig.NewProxy(s.addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return s.endpoint("Port "+port(p), "HostKeyAlias "+s.alias()), p
}

// alias is a name for the server's key that no other server of the test has.
func (s *server) alias() string { return "box" + strconv.Itoa(s.port) }

// stopForks makes the server's connections stand still, but not the server.
func (s *server) stopForks() {
	for _, pid := range s.forks(s.cmd.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
	}
}

// knowAlias lets known_hosts vouch for what proxied gives.
func (s *server) knowAlias() {
	s.know(s.hosts[0])
	text, err := os.ReadFile(s.path("known_hosts"))
	if err != nil {
		s.t.Fatal(err)
	}
	_, key, _ := strings.Cut(string(text), " ")
	write(s.t, s.path("known_hosts"), string(text)+s.alias()+" "+key)
}

// TestCutConnection breaks the TCP connection under a script, with no way to a
// new one: the host alone ends what runs there.
func TestCutConnection(t *testing.T) {
	t.Parallel()
	for _, tc := range lasting {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t)
			s.knowAlias()
			e, link := proxied(t, s)
			file := filepath.Join(t.TempDir(), "pid")
			got := startScript(within(t, time.Minute), t, newPool(t, Options{}).Conn(e), Script{Text: idsText(file) + tc.text}, file)
			pid := idFrom(t, file)
			if err := link.Refuse(true); err != nil {
				t.Fatal(err)
			}
			link.Cut()
			err := <-got
			if k, _ := KindOf(err); k != KindConnect || !Started(err) {
				t.Errorf("got %v, started %t", err, Started(err))
			}
			wantGroupGone(t, pid)
		})
	}
}

// TestCutFinish is TestCutConnection under a script that is to finish, and the
// same for a caller whose time is over.
func TestCutFinish(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.knowAlias()
	for name, local := range map[string]bool{"local": true, "ssh": false} {
		t.Run("out of time, "+name, func(t *testing.T) {
			t.Parallel()
			e := s.endpoint()
			if local {
				e = Endpoint{Local: true}
			}
			ctx, cancel := context.WithCancel(t.Context())
			file := filepath.Join(t.TempDir(), "pid")
			got := startScript(ctx, t, newPool(t, Options{}).Conn(e), Script{Text: finishing(file), Finish: true}, file)
			pid := idFrom(t, file)
			cancel()
			if err := <-got; !errors.Is(err, context.Canceled) || !Started(err) {
				t.Errorf("got %v, started %t", err, Started(err))
			}
			wantFinished(t, file, pid)
		})
	}
	t.Run("cut", func(t *testing.T) {
		t.Parallel()
		e, link := proxied(t, s)
		file := filepath.Join(t.TempDir(), "pid")
		got := startScript(within(t, time.Minute), t, newPool(t, Options{}).Conn(e), Script{Text: finishing(file), Finish: true}, file)
		pid := idFrom(t, file)
		link.Cut() // with a way to a new connection
		if err := <-got; !Started(err) {
			t.Errorf("got %v, started %t", err, Started(err))
		}
		wantFinished(t, file, pid)
	})
}

// TestDroppedLink is the connection that the host does not know to be dead: the
// sshd process that serves it stands still, and our keepalives drop it. Over a
// new connection the script is ended, and only then run again.
func TestDroppedLink(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"repeatable", "in the persistent shell", "not repeatable"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := startServer(t)
			e, repeatable := s.endpoint(), how != "not repeatable"
			p := newPool(t, Options{KeepAlive: 300 * time.Millisecond})
			if how == "in the persistent shell" {
				p = polled(t, Options{KeepAlive: 300 * time.Millisecond}, e)
			}
			file := filepath.Join(t.TempDir(), "pid")
			// The second run says whether anything of the first still lives.
			text := "if [ -e " + file + " ]; then ps -eo pgid=,stat= | awk -v g=$(cat " + file + ") '$1 == g && $2 !~ /^Z/' | grep -c .; exit 0; fi\n" +
				idsText(file) + "trap '' TERM; sleep 600 & sleep 600"
			type answer struct {
				res Result
				err error
			}
			got := make(chan answer, 1)
			go func() {
				res, err := p.Conn(e).Run(within(t, time.Minute), Script{Text: text, Repeatable: repeatable})
				got <- answer{res, err}
			}()
			pid := idFrom(t, file)
			s.stopForks()
			a := <-got
			switch k, _ := KindOf(a.err); {
			case repeatable && (a.err != nil || string(a.res.Stdout) != "0\n"):
				t.Errorf("the second run saw %q of the first; %v", a.res.Stdout, a.err)
			case !repeatable && (k != KindConnect || !Started(a.err)):
				t.Errorf("got %v, started %t", a.err, Started(a.err))
			}
			wantGroupGone(t, pid)
		})
	}
}
