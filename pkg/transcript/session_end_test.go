package transcript

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestQueryEnds reads the ends of conversations together, whose records are of all
// sizes: each gives its last twelve, of the end that is looked through, and once.
func TestQueryEnds(t *testing.T) {
	// said is n prompts of so many bytes each, and the texts of the last few.
	said := func(n, size, few int) (text string, want []string) {
		var all []string
		for i := range n {
			word := fmt.Sprintf("%d-%d ", size, i)
			all = append(all, word+strings.Repeat("x", max(0, size-len(word)-120)))
			text += prompt("u"+strconv.Itoa(i), "/a", all[i])
		}
		return text, all[max(0, len(all)-few):]
	}
	noise := `{"type":"attachment","uuid":"n","text":"` + strings.Repeat("y", 70_000) + `"}` + "\n"
	type conversation struct {
		text string
		want []string
	}
	conversed := func(n, size, few int, then string) conversation {
		text, want := said(n, size, few)
		return conversation{text + then, want}
	}
	all := map[string]conversation{
		"a few small ones":         conversed(3, 200, 12, ""),
		"many small ones":          conversed(300, 400, 12, ""),
		"few, and long before":     conversed(8, 400, 8, noise+noise),
		"large ones":               conversed(40, 15_000, 12, ""),
		"larger than is looked at": conversed(20, 60_000, 4, ""),
		"one that is too large":    conversed(2, 300_000, 0, ""),
		"small ones behind noise":  conversed(200, 400, 12, noise),
	}
	// The client writes the type of what the model said behind the message: the rest of a
	// record that begins before what is read first looks like one.
	across, want := said(30, 5_700, 12)
	across = strings.NewReplacer(`"type":"user",`, "", `"cwd":`, `"type":"user","cwd":`).Replace(across)
	all["one across the border"] = conversation{across, want}
	names := slices.Sorted(maps.Keys(all))
	pids := []int{os.Getpid(), os.Getppid()}
	for _, kit := range append([]string{""}, kits(t)...) {
		for i := range names {
			// Two at a time, each beside each.
			for _, pair := range [][2]string{{names[i], names[(i+1)%len(names)]}, {names[i], names[(i+3)%len(names)]}} {
				a := newAccount(t)
				a.uses(kit)
				for k, name := range pair {
					id := fmt.Sprintf("0a-%d", k)
					a.write(fmt.Sprintf("sessions/%d.json", pids[k]), sample(t, pids[k], id, startOf(t, pids[k])))
					a.write("projects/-a/"+id+".jsonl", all[name].text)
				}
				q := NewQuery()
				out := a.run(q.Fragment())
				found := map[string][]string{}
				for _, s := range q.Parse(out) {
					for _, r := range s.Tail {
						found[s.ID] = append(found[s.ID], r.Text())
					}
				}
				for k, name := range pair {
					id := fmt.Sprintf("0a-%d", k)
					if want := all[name].want; !slices.Equal(found[id], want) {
						t.Errorf("%q, %s beside %s: %d records, want %d", kit, name, pair[1-k], len(found[id]), len(want))
					}
					if n := strings.Count(string(out), q.nonce+" tail "+id+"\n"); n != 1 {
						t.Errorf("%q, %s beside %s: read %d times", kit, name, pair[1-k], n)
					}
				}
			}
		}
	}
}
