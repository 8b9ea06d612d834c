package transport

import (
	"fmt"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// versus times ways to do one thing in turns, so that the machine's load falls
// on all of them alike, and reports each in milliseconds, and by the last, which
// is the one to beat.
type versus []struct {
	name string
	do   func() error
}

func (v versus) run(b *testing.B) {
	b.Helper()
	spent := make([]time.Duration, len(v))
	for b.Loop() {
		for i, way := range v {
			begin := time.Now()
			if err := way.do(); err != nil {
				b.Fatalf("%s: %v", way.name, err)
			}
			spent[i] += time.Since(begin)
		}
	}
	for i, way := range v {
		b.ReportMetric(float64(spent[i].Microseconds())/1000/float64(b.N), way.name+"-ms")
		if last := len(v) - 1; i < last {
			b.ReportMetric(float64(spent[i])/float64(spent[last]), way.name+"/"+v[last].name)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkVersusSSH compares one trivial script with OpenSSH's ssh, without and
// with a network of 100 ms a round trip in between. Cold makes a connection for
// each; warm has one, which ssh does by its ControlMaster.
func BenchmarkVersusSSH(b *testing.B) {
	for _, rtt := range []time.Duration{0, 100 * time.Millisecond} {
		s := startServer(b)
		s.knowAlias()
		e, network := proxied(b, s)
		network.SetDelay(rtt / 2)
		sshRun := func(args ...string) func() error {
			return func() error { return exec.Command("ssh", append(args, "-F", e.ConfigFile, "box", ":")...).Run() }
		}
		run := func(p *Pool, repeatable bool) func() error {
			return func() error {
				_, err := p.Conn(e).Run(b.Context(), Script{Text: ":", Repeatable: repeatable})
				return err
			}
		}
		b.Run(fmt.Sprintf("cold, %v", rtt), func(b *testing.B) {
			versus{
				{"pool", func() error {
					p := NewPool(Options{})
					defer func() { _ = p.Close() }()
					return run(p, false)()
				}},
				{"ssh", sshRun()},
			}.run(b)
		})
		b.Run(fmt.Sprintf("warm, %v", rtt), func(b *testing.B) {
			control := s.path("control")
			master := exec.Command("ssh", "-F", e.ConfigFile, "-M", "-N", "-S", control, "box")
			if err := master.Start(); err != nil {
				b.Fatal(err)
			}
			defer func() { _ = master.Process.Kill(); _ = master.Wait() }()
			shared := sshRun("-S", control, "-o", "ControlMaster=no")
			eventually(b, "the master serves", func() bool {
				return exec.Command("ssh", "-S", control, "-O", "check", "-F", e.ConfigFile, "box").Run() == nil
			})
			p := newPool(b, Options{})
			for range shellAfter + 1 { // then there is the persistent shell, as a poller has it
				if err := run(p, true)(); err != nil {
					b.Fatal(err)
				}
			}
			versus{{"once", run(p, false)}, {"repeatable", run(p, true)}, {"ssh", shared}}.run(b)
		})
	}
}

// BenchmarkFleetVersusSSH reaches 30 endpoints on one sshd, cold and at once.
func BenchmarkFleetVersusSSH(b *testing.B) {
	s := startServer(b, "MaxStartups 100")
	var all []Endpoint
	for i := range 30 {
		alias := fmt.Sprintf("box%d", i)
		all = append(all, Endpoint{Destination: alias, ConfigFile: s.configFile(s.block(alias))})
	}
	each := func(do func(Endpoint) error) error {
		var wg sync.WaitGroup
		errs := make([]error, len(all))
		for i, e := range all {
			wg.Go(func() { errs[i] = do(e) })
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	}
	versus{
		{"pool", func() error {
			p := NewPool(Options{})
			defer func() { _ = p.Close() }()
			return each(func(e Endpoint) error {
				_, err := p.Conn(e).Run(b.Context(), Script{Text: ":"})
				return err
			})
		}},
		{"ssh", func() error {
			return each(func(e Endpoint) error {
				return exec.Command("ssh", "-F", e.ConfigFile, e.Destination, ":").Run()
			})
		}},
	}.run(b)
}

// BenchmarkRun is one trivial script: on a new connection each time (cold), on a
// pooled one (warm), and on this machine.
func BenchmarkRun(b *testing.B) {
	s := startServer(b)
	once := func(b *testing.B, c Conn, repeatable bool) {
		b.Helper()
		if _, err := c.Run(b.Context(), Script{Text: ":", Repeatable: repeatable}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			p := NewPool(Options{})
			once(b, p.Conn(s.endpoint()), false)
			_ = p.Close()
		}
	})
	for name, repeatable := range map[string]bool{"warm": false, "warm, repeatable": true} {
		b.Run(name, func(b *testing.B) {
			conn := newPool(b, Options{}).Conn(s.endpoint())
			once(b, conn, repeatable)
			for b.Loop() {
				once(b, conn, repeatable)
			}
		})
	}
	for name, repeatable := range map[string]bool{"local": false, "local, repeatable": true} {
		b.Run(name, func(b *testing.B) {
			conn := newPool(b, Options{}).Conn(Endpoint{Local: true})
			for b.Loop() {
				once(b, conn, repeatable)
			}
		})
	}
}
