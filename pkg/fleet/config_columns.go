package fleet

import (
	"fmt"
	"strings"
)

// oldColumns are the keys of the old form, in its order; the last two may be left
// out.
var oldColumns = []string{"host", keyProject, keyWorkdir, keyTransport, keySession}

const (
	fewestColumns = 3
	columnsUsage  = "host project workdir [transport] [session]"
)

// readColumns reads the old form: a host a line, blanks between its columns, a
// comment from a # that starts a column. It knows no quotes and no defaults.
func readColumns(p *problems, text string, form fileForm) configFile {
	var f configFile
	seen := map[string]int{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		fields := strings.Fields(line)
		for i, field := range fields {
			if field[0] == '#' {
				fields = fields[:i]
				break
			}
		}
		if len(fields) == 0 {
			continue
		}
		if looksLikeTOML(strings.TrimSpace(line)) {
			p.add(n, "", fault{
				"TOML in a file that was taken for the old column form",
				fmt.Sprintf("line %d decided that; write all hosts in one form", form.line),
			})
			continue
		}
		name := fields[0]
		if len(fields) < fewestColumns || len(fields) > len(oldColumns) {
			p.add(n, keyPath(tableHosts, name), fault{
				fmt.Sprintf("has %d of the columns %s", len(fields), columnsUsage),
				"a value with blanks in it needs the TOML form",
			})
			continue
		}
		if first, double := seen[name]; double {
			p.add(n, keyPath(tableHosts, name), fault{fmt.Sprintf("is on line %d already", first), "give one of them another name"})
			continue
		}
		seen[name] = n
		r := hostRow{name: name, line: n, set: settings{}}
		for i, text := range fields[1:] {
			key := oldColumns[i+1]
			r.accept(p, key, setting{line: n, text: text})
		}
		f.rows = append(f.rows, r)
	}
	return f
}
