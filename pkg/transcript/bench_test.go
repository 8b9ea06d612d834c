package transcript

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// BenchmarkTail reads the end of a conversation of 200 MB as `read` does, and in
// turns with it the last 400 lines by tail alone, which brings them raw. It
// reports both in milliseconds, how the first is to the second, and how many
// records came. In the second case a record of 30 MB, an image that a tool gave,
// stands ten turns before the end, and twenty turns are wanted.
func BenchmarkTail(b *testing.B) {
	for _, bb := range []struct {
		name  string
		image int // bytes
		want  int // prompts
	}{{"200 MB", 0, 20}, {"200 MB, 30 MB of them in one record", 30 << 20, 20}} {
		b.Run(bb.name, func(b *testing.B) {
			home := b.TempDir()
			b.Setenv("HOME", home)
			b.Setenv("CLAUDE_CONFIG_DIR", "")
			path := filepath.Join(home, ".claude", "projects", "-a", "0-1.jsonl")
			if err := writeLong(path, 200<<20, bb.image); err != nil {
				b.Fatal(err)
			}
			pool := transport.NewPool(transport.Options{})
			defer func() { _ = pool.Close() }()
			conn := pool.Conn(transport.Endpoint{Local: true})
			records, carried := 0, 0
			read := func() error {
				for size := int64(256 << 10); ; size *= 2 {
					q := NewTailQuery("0-1", size)
					res, err := conn.Run(b.Context(), transport.Script{Text: q.Fragment(), Repeatable: true})
					if err != nil {
						return err
					}
					tail := q.Parse(res.Stdout)
					prompts := 0
					for _, r := range tail.Records {
						if _, ok := r.Prompt(); ok {
							prompts++
						}
					}
					if records, carried = len(tail.Records), len(res.Stdout); prompts >= bb.want || tail.Full {
						return nil
					}
				}
			}
			raw := func() error { return exec.Command("sh", "-c", `tail -n 400 "$1" | cat > /dev/null`, "sh", path).Run() }
			var spent [2]time.Duration
			for b.Loop() {
				for i, way := range []func() error{read, raw} {
					begin := time.Now()
					if err := way(); err != nil {
						b.Fatal(err)
					}
					spent[i] += time.Since(begin)
				}
			}
			b.ReportMetric(float64(spent[0].Microseconds())/1000/float64(b.N), "read-ms")
			b.ReportMetric(float64(spent[1].Microseconds())/1000/float64(b.N), "tail-ms")
			b.ReportMetric(float64(spent[0])/float64(spent[1]), "read/tail")
			b.ReportMetric(float64(records), "records")
			b.ReportMetric(float64(carried)/1024, "kB-carried")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// writeLong writes a conversation of at least size bytes: turns of a prompt, four
// calls with their results, an answer and what the client notes besides. Ten turns
// before its end is a result of image bytes, unless that is 0.
func writeLong(path string, size, image int) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	written := 0
	line := func(id, text string) {
		n, _ := fmt.Fprintf(w, text+"\n", id) // the writer keeps its first error for Flush
		written += n
	}
	const tail = `,"uuid":"%s","timestamp":"2026-11-30T02:55:04.810Z","cwd":"/a","sessionId":"0-1"}`
	turn := func(i int) {
		id := func(k int) string { return fmt.Sprintf("%d-%d", i, k) }
		line(id(0), `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"do the next part"},"origin":{"kind":"human"}`+tail)
		for k := range 4 {
			line(id(4*k+1), `{"isSidechain":false,"message":{"content":[{"id":"t","input":{"command":"go test ./..."},"name":"Bash","type":"tool_use"}],"role":"assistant"},"type":"assistant"`+tail)
			line(id(4*k+2), `{"isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"`+strings.Repeat("ok some/package 0.01s ", 100)+`","is_error":false}]}`+tail)
			line(id(4*k+3), `{"type":"api-request-blob","message":{"role":"user","content":"`+strings.Repeat("y", 3000)+`"}`+tail)
		}
		line(id(90), `{"isSidechain":false,"message":{"content":[{"text":"`+strings.Repeat("All of it passes now. ", 20)+`","type":"text"}],"role":"assistant"},"type":"assistant"`+tail)
		line(id(91), `{"type":"system","subtype":"turn_duration"`+tail)
	}
	i := 0
	for ; written < size-image; i++ {
		turn(i)
	}
	if image > 0 {
		line("image", `{"isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":[{"type":"image","source":{"data":"`+strings.Repeat("QUJD", image/4)+`"}}]}]}`+tail)
		for k := range 10 {
			turn(i + k)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
