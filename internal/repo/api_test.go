package repo

import (
	"flag"
	"fmt"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write pkg/fleet/api.txt anew")

const (
	apiFile = "pkg/fleet/api.txt"
	apiHead = `# What a program over pkg/fleet may use: what the package exports, and of the packages
# below it the types that these name. A line that goes or changes may break somebody's
# program (the compatibility promise is in the package comment). TestAPI holds the
# list to the code: go test ./internal/repo -run TestAPI -update
`
)

// TestAPI holds the exported API of pkg/fleet to the list that is kept beside it, so
// that whoever changes it sees, and shows, what programs will notice.
func TestAPI(t *testing.T) {
	got := apiOf(t, module+"/pkg/fleet")
	if *update {
		if err := os.WriteFile(filepath.Join(root, apiFile), []byte(apiHead+strings.Join(got, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Split(strings.TrimSpace(strings.TrimPrefix(read(t, apiFile), apiHead)), "\n")
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("gone, or changed, which breaks programs that use it: %s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("new: %s", line)
		}
	}
	if t.Failed() {
		t.Errorf("if all of that is meant: go test ./internal/repo -run TestAPI -update, and a line in CHANGELOG.md")
	}
}

// TestAPISees holds that the list has what a program can notice.
func TestAPISees(t *testing.T) {
	got := apiOf(t, module+"/pkg/fleet")
	for _, line := range []string{
		"func Load(path string, opts ...Option) (*Fleet, error)",
		"method (*Fleet) Status(ctx context.Context, hosts ...Host) iter.Seq[Status]",
		"method (Status) NeedsPerson() bool",
		"const ClassUsage Class = 2",
		"var ErrNotBegun error",
		"type Fleet struct, and what is unexported",
		"type Status struct",
		"type Status struct, Attached int",
		"type Status struct, embedded detect.Verdict",
		"type Outcome struct, ID string `json:\"id\"`",
		"const detect.Ready detect.State = \"ready\"", // of the packages below
		"type detect.Verdict struct, Draft string `json:\"draft\"`",
		"type transport.Terminal struct, Out io.Writer",
	} {
		if !slices.Contains(got, line) {
			t.Errorf("the list lacks %s", line)
		}
	}
	for _, line := range got {
		for _, part := range []string{"options struct", "statusJSON", "transport.Pool", "tmux.Guard"} { // nobody can name these
			if strings.Contains(line, part) {
				t.Errorf("the list has %s", line)
			}
		}
	}
}

// apiOf lists the exported API of a package, a symbol a line, and that of the types
// of the module's other packages which it names.
func apiOf(t *testing.T, path string) []string {
	t.Helper()
	imp := importing(t, token.NewFileSet())
	load := func(path string) *types.Package {
		pkg, err := imp.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		return pkg
	}
	pkg := load(path)
	a := &api{pkg: pkg, seen: map[*types.TypeName]bool{}}
	for _, name := range pkg.Scope().Names() {
		if o := pkg.Scope().Lookup(name); o.Exported() {
			a.object(o)
		}
	}
	for len(a.todo) > 0 {
		o := a.todo[0]
		a.todo = a.todo[1:]
		a.object(o)
		whole := load(o.Pkg().Path()).Scope() // so far it has only what pkg names
		for _, name := range whole.Names() {
			if c, ok := whole.Lookup(name).(*types.Const); ok && c.Exported() && types.Identical(c.Type(), o.Type()) {
				a.object(c)
			}
		}
	}
	slices.Sort(a.lines)
	return slices.Compact(a.lines)
}

type api struct {
	pkg   *types.Package
	lines []string
	seen  map[*types.TypeName]bool
	todo  []*types.TypeName // of other packages, named and not listed yet
}

func (a *api) add(format string, args ...any) {
	a.lines = append(a.lines, fmt.Sprintf(format, args...))
}

// name words a type as code of the package would.
func (a *api) name(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == a.pkg {
			return ""
		}
		return p.Name()
	})
}

// follow has the named types in a type listed.
func (a *api) follow(t types.Type) {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		o := t.Obj()
		for arg := range t.TypeArgs().Types() {
			a.follow(arg)
		}
		if o.Pkg() != nil && o.Pkg() != a.pkg && strings.HasPrefix(o.Pkg().Path(), module) && !a.seen[o] {
			a.seen[o] = true
			a.todo = append(a.todo, o)
		}
	case *types.Pointer:
		a.follow(t.Elem())
	case *types.Slice:
		a.follow(t.Elem())
	case *types.Array:
		a.follow(t.Elem())
	case *types.Chan:
		a.follow(t.Elem())
	case *types.Map:
		a.follow(t.Key())
		a.follow(t.Elem())
	case *types.Signature:
		for v := range t.Params().Variables() {
			a.follow(v.Type())
		}
		for v := range t.Results().Variables() {
			a.follow(v.Type())
		}
	}
}

func (a *api) object(o types.Object) {
	name := o.Name()
	if o.Pkg() != a.pkg {
		name = o.Pkg().Name() + "." + name
	}
	switch o := o.(type) {
	case *types.Const:
		a.follow(o.Type())
		typ := " " + a.name(o.Type())
		if b, ok := o.Type().(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
			typ = ""
		}
		a.add("const %s%s = %s", name, typ, o.Val().ExactString())
	case *types.Var:
		a.follow(o.Type())
		a.add("var %s %s", name, a.name(o.Type()))
	case *types.Func:
		a.follow(o.Type())
		a.add("func %s%s", name, strings.TrimPrefix(a.name(o.Type()), "func"))
	case *types.TypeName:
		a.typ(name, o)
	}
}

func (a *api) typ(name string, o *types.TypeName) {
	switch u := o.Type().Underlying().(type) {
	case *types.Struct:
		a.add("type %s struct", name)
		for i := range u.NumFields() {
			a.field(name, u.Field(i), u.Tag(i))
		}
	case *types.Interface:
		a.add("type %s interface", name)
		for m := range u.Methods() {
			a.follow(m.Type())
			a.add("type %s interface, %s%s", name, m.Name(), strings.TrimPrefix(a.name(m.Type()), "func"))
		}
	case *types.Signature: // of what is unexported no program can know
		a.add("type %s %s", name, a.name(u))
	default:
		a.follow(u)
		a.add("type %s %s", name, a.name(u))
	}
	methods := types.NewMethodSet(types.NewPointer(o.Type()))
	for i := range methods.Len() {
		m := methods.At(i).Obj().(*types.Func)
		if !m.Exported() || types.IsInterface(o.Type()) {
			continue
		}
		receiver := name
		if _, ok := m.Signature().Recv().Type().(*types.Pointer); ok {
			receiver = "*" + name
		}
		a.follow(m.Type())
		a.add("method (%s) %s%s", receiver, m.Name(), strings.TrimPrefix(a.name(m.Type()), "func"))
	}
}

func (a *api) field(name string, f *types.Var, tag string) {
	switch {
	case !f.Exported():
		a.add("type %s struct, and what is unexported", name)
		return
	case reflect.StructTag(tag).Get("json") != "":
		tag = " `" + tag + "`"
	}
	a.follow(f.Type())
	if f.Embedded() {
		a.add("type %s struct, embedded %s%s", name, a.name(f.Type()), tag)
		return
	}
	a.add("type %s struct, %s %s%s", name, f.Name(), a.name(f.Type()), tag)
}
