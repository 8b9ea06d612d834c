package fleet

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/claude-fleet/claude-fleet/internal/docs"
	"github.com/claude-fleet/claude-fleet/pkg/detect"
)

// TestDocs holds what the documents say of the states and of fleet.conf's keys to
// the code. `make docs` writes it.
func TestDocs(t *testing.T) {
	docs.Hold(t, "docs/states.md", "states", stateTable(t))
	docs.Hold(t, "docs/configuration.md", "keys", keyTable(t))
	// What send and up do with each state is said by hand: of all nine, in order.
	for page, tables := range map[string]int{"README.md": 1, "docs/states.md": 2} {
		text, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for range tables {
			want = append(want, StateNames()...)
		}
		for line := range strings.Lines(string(text)) {
			cells := strings.Split(line, "|")
			if len(cells) > 2 && slices.Contains(StateNames(), strings.TrimSpace(cells[1])) {
				got = append(got, strings.TrimSpace(cells[1]))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has rows for the states %v, not %v", page, got, want)
		}
	}
}

// stateTable has the meanings from the remarks beside the constants.
func stateTable(t *testing.T) string {
	means := map[string]string{}
	inspect(t, "../detect/detect.go", func(n ast.Node) {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 && v.Comment != nil {
			if id, ok := v.Type.(*ast.Ident); ok && id.Name == "State" {
				means[strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`)] = strings.TrimSpace(v.Comment.Text())
			}
		}
	})
	var b strings.Builder
	b.WriteString("| state | means | counts for `status --check` |\n|---|---|---|\n")
	for _, s := range states {
		if means[string(s)] == "" {
			t.Fatalf("no remark says what %s means", s)
		}
		needs := "no"
		if (Status{Verdict: detect.Verdict{State: s}}).NeedsPerson() {
			needs = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", s, means[string(s)], needs)
	}
	return b.String()
}

// keyTable has what each key is from the comments of the fields of Host.
func keyTable(t *testing.T) string {
	fields := map[string]string{
		keyProject: "Project", keyWorkdir: "Workdir", keyTransport: "Transport", keySSH: "SSH", keySession: "Session",
		keyCommand: "Command", keyTags: "Tags", keyTimeout: "Timeout", keySSHConfig: "SSHConfig",
	}
	comments := map[string]string{}
	inspect(t, "table.go", func(n ast.Node) {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != "Host" {
			return
		}
		for _, f := range spec.Type.(*ast.StructType).Fields.List {
			comments[f.Names[0].Name] = strings.Join(strings.Fields(f.Doc.Text()), " ")
		}
	})
	given := defaultOf(t)
	var b strings.Builder
	b.WriteString("| key | is | default | in `[defaults]` |\n|---|---|---|---|\n")
	for _, s := range keySpecs {
		_, is, found := strings.Cut(comments[fields[s.name]], " ") // the field's name
		if !found {
			t.Fatalf("no comment says what %s is", s.name)
		}
		is = strings.NewReplacer("TransportSSH", "`\"ssh\"`", "TransportLocal", "`\"local\"`", "|", `\|`).Replace(is)
		is = strings.TrimPrefix(strings.TrimPrefix(is, "is "), "are ")
		if s.name == keySSHConfig { // the field has it resolved
			is = "an ssh_config on this machine to read instead of yours and the system's. ~ is your home here; a relative path starts at the folder of the fleet.conf."
		}
		in := "yes"
		if s.notDefault != "" {
			in = "no"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.name, is, given[s.name], in)
	}
	return b.String()
}

// defaultOf asks the parser what a host gets that states nothing.
func defaultOf(t *testing.T) map[string]string {
	t.Helper()
	table, err := ParseTable("fleet.conf", []byte("[hosts.NAME]\nworkdir = \"~/LAST\"\n[hosts.bare]\n"))
	if err != nil {
		t.Fatal(err)
	}
	named, bare := table.Hosts[0], table.Hosts[1]
	if named.Project != "LAST" || named.SSH != "NAME" || bare.SSHConfig != "" || len(bare.Tags) != 0 {
		t.Fatalf("the defaults are others than the documents say: %+v, %+v", named, bare)
	}
	return map[string]string{
		keyProject: "the last part of workdir, or for ~ the host's name", keyWorkdir: code(bare.Workdir), keyTransport: code(bare.Transport), keySSH: "the host's name",
		keySession: code(bare.Session) + "; of a local host, its name", keyCommand: code(bare.Command), keyTags: "none",
		keyTimeout: code(bare.Timeout.String()), keySSHConfig: "your ssh_config and the system's",
	}
}

func code(s string) string { return "`\"" + s + "\"`" }

func inspect(t *testing.T, path string, see func(ast.Node)) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool { see(n); return true })
}
