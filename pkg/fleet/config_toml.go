package fleet

import (
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// The two tables that a fleet.conf has at its top.
const (
	tableDefaults = "defaults"
	tableHosts    = "hosts"
)

// readTOML reads the TOML form. It decodes into maps rather than structs: the
// TOML package stops at the first value of a wrong type, and all are to be told.
func readTOML(p *problems, text string, form fileForm) configFile {
	lines, line, fault := keyLines(text)
	if fault != nil {
		p.add(line, "", *fault)
		return configFile{}
	}
	var tree map[string]any
	meta, err := toml.Decode(text, &tree)
	if err != nil {
		addSyntax(p, text, form, err)
		return configFile{}
	}
	keys := meta.Keys()
	if len(lines) != len(keys) {
		lines = make([]int, len(keys)) // no line is better than a wrong one
	}
	r := tomlReader{
		problems: p, tree: tree, told: map[string]bool{}, rows: map[string]int{},
		file: configFile{defaults: settings{}},
	}
	for i, key := range keys {
		r.read(key, lines[i])
	}
	return r.file
}

// tomlReader turns the keys of a TOML file, in their order, into rows.
type tomlReader struct {
	*problems
	tree map[string]any
	told map[string]bool // keys already complained of: what is below them is not
	rows map[string]int  // index into file.rows by name
	file configFile
}

// read takes one key or table header. Its path may end above or below the level
// at which it means something: [hosts.box] has no value, and x.y below a key is
// the sign that the key is a table.
func (r *tomlReader) read(path []string, line int) {
	switch path[0] {
	case tableDefaults:
		table, ok := r.table(path[:1], line)
		if !ok || len(path) < 2 {
			return
		}
		if s, ok := r.setting(path[:2], table[path[1]], line, true); ok {
			spec, _ := specOf(path[1])
			if faults := s.check(spec); len(faults) > 0 {
				r.tell(path[:2], line, faults...)
				return
			}
			r.file.defaults[path[1]] = s
		}
	case tableHosts:
		if _, ok := r.table(path[:1], line); !ok || len(path) < 2 {
			return
		}
		table, ok := r.table(path[:2], line)
		if !ok {
			return
		}
		row := r.row(path[1], line)
		if len(path) < 3 {
			return
		}
		s, ok := r.setting(path[:3], table[path[2]], line, false)
		if !ok {
			row.bad = true
			return
		}
		row.accept(r.problems, path[2], s)
	default:
		known := []string{tableDefaults, tableHosts}
		if spec, ok := specOf(path[0]); ok {
			r.tell(path[:1], line, fault{"a key of no host", "put " + spec.name + " into [defaults] or [hosts.NAME]"})
			return
		}
		r.tell(path[:1], line, unknownKey(path[0], known))
	}
}

// tell reports a problem with a key, once.
func (r *tomlReader) tell(path []string, line int, faults ...fault) {
	key := keyPath(path...)
	if !r.told[key] {
		r.told[key] = true
		r.addAll(line, key, faults)
	}
}

// table finds the table at path, or reports that there is something else.
func (r *tomlReader) table(path []string, line int) (map[string]any, bool) {
	value := any(r.tree)
	for _, part := range path {
		parent, ok := value.(map[string]any)
		if !ok {
			return nil, false // told at the parent
		}
		value = parent[part]
	}
	table, ok := value.(map[string]any)
	if !ok {
		hint := "write [" + path[0] + "]"
		if path[0] == tableHosts {
			hint = "write [hosts.NAME]"
		}
		r.tell(path, line, fault{"is " + typeName(value) + ", not a table", hint})
	}
	return table, ok
}

// row finds the row of a host, or begins it.
func (r *tomlReader) row(name string, line int) *hostRow {
	i, ok := r.rows[name]
	if !ok {
		i = len(r.file.rows)
		r.rows[name] = i
		r.file.rows = append(r.file.rows, hostRow{name: name, line: line, set: settings{}})
	}
	return &r.file.rows[i]
}

// setting makes a setting of a value, or reports why its key or its type is
// wrong. The last part of path is the key.
func (r *tomlReader) setting(path []string, value any, line int, isDefault bool) (setting, bool) {
	key := path[len(path)-1]
	known := hostKeys()
	if isDefault {
		known = defaultKeys()
	}
	spec, ok := specOf(key)
	_, isTable := value.(map[string]any)
	switch {
	case !ok && isTable && !isDefault:
		// [hosts.a.b] for the host a.b is the likely slip.
		name := keyPath(tableHosts, strings.Join(path[1:], "."))
		r.tell(path, line, fault{"unknown key", "a name with a dot is quoted: [" + name + "]"})
	case !ok:
		r.tell(path, line, unknownKey(key, known))
	case isDefault && spec.notDefault != "":
		r.tell(path, line, fault{"not a default", spec.notDefault})
	case spec.list:
		list, bad := stringList(value)
		if bad == "" {
			return setting{line: line, list: list}, true
		}
		r.tell(path, line, fault{"is " + bad + ", not a list of strings", "write " + spec.name + " = " + spec.example})
	default:
		if text, ok := value.(string); ok {
			return setting{line: line, text: text}, true
		}
		r.tell(path, line, fault{"is " + typeName(value) + ", not a string", "write " + spec.name + " = " + spec.example})
	}
	return setting{}, false
}

// stringList takes a list of strings, or says what the value is instead.
func stringList(value any) (list []string, bad string) {
	items, ok := value.([]any)
	if !ok {
		return nil, typeName(value)
	}
	for _, item := range items {
		text, ok := item.(string)
		if !ok {
			return nil, "a list that holds " + typeName(item)
		}
		list = append(list, text)
	}
	return list, ""
}

// typeName words the type of a value for a person.
func typeName(value any) string {
	switch value.(type) {
	case string:
		return "a string"
	case int64:
		return "an integer"
	case float64:
		return "a number"
	case bool:
		return "a boolean"
	case time.Time:
		return "a date or time"
	case map[string]any:
		return "a table"
	case []map[string]any:
		return "a list of tables"
	default:
		return "a list"
	}
}
