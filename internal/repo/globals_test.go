package repo

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// shared are the package-level variables that are written to on purpose, and why
// that is nobody's state.
var shared = map[string]string{
	"pkg/detect.judges": "scratch memory between two verdicts; each clears what it takes",
}

// looked are tables whose rows are read through a pointer, since they are large. That
// no row is written to through one, nobody holds but the reader.
var looked = map[string]bool{"pkg/detect.rules": true, "pkg/detect.witnesses": true, "pkg/transport.keywords": true}

// processWide are functions that change what a whole process shares, which a library
// must leave to the program.
var processWide = []string{
	"os.Setenv", "os.Unsetenv", "os.Clearenv", "os.Chdir", "syscall.Umask", "log.SetOutput", "log.SetFlags", "log.SetPrefix",
	"os/signal.Notify", "os/signal.NotifyContext", "os/signal.Ignore", "os/signal.Reset", "math/rand.Seed", "runtime/debug.SetGCPercent", "log/slog.SetDefault",
}

// TestNoGlobalState holds that no function of the packages and programs writes to a
// package-level variable, that none of pkg hands one out or changes the process
// around it, and that nothing but errors is exported as a variable there. That is what
// lets two fleets live in one process.
func TestNoGlobalState(t *testing.T) {
	checked(t, []string{"pkg", "cmd", "examples"}, func(path string, fset *token.FileSet, files []*ast.File, info *types.Info) {
		for _, found := range globalState(path, fset, files, info) {
			t.Error(found)
		}
	})
}

// TestNoGlobalStateSees holds that the test before would find what it looks for.
func TestNoGlobalStateSees(t *testing.T) {
	const head = `package p
import ("os"; "errors"; "sync")
var n int
var list = []string{"a"}
var table = map[string]*struct{ n int }{}
var lock sync.Mutex
var ErrX = errors.New("x")
var _, _, _, _, _, _ = n, list, table, &lock, ErrX, os.Getenv
`
	for name, c := range map[string]struct {
		text string
		want string // a part of what is found; empty for nothing
	}{
		"reading":               {"func f() int { return n + len(list) + table[\"a\"].n }", ""},
		"init":                  {"func init() { n = 1 }", ""},
		"a declaration":         {"var m = func() int { k := 0; k++; return k }()", ""},
		"a local of that name":  {"func f() { n := 0; n++; _ = n }", ""},
		"an error":              {"var ErrY = errors.New(\"y\")", ""},
		"an argument":           {"func f() string { return os.Getenv(list[0]) }", ""},
		"assigning":             {"func f() { n = 1 }", "writes n"},
		"counting":              {"func f() { n++ }", "writes n"},
		"an element":            {"func f() { list[0] = \"b\" }", "writes list"},
		"what it points to":     {"func f() { table[\"a\"].n = 2 }", "writes table"},
		"in a closure":          {"func f() func() { return func() { n = 1 } }", "writes n"},
		"in a method":           {"type T int; func (T) f() { n = 1 }", "writes n"},
		"deleting":              {"func f() { delete(table, \"a\") }", "writes table"},
		"clearing":              {"func f() { clear(list) }", "writes list"},
		"copying over":          {"func f() { copy(list, list) }", "writes list"},
		"ranging into":          {"func f() { for n = range 3 { } }", "writes n"},
		"an address":            {"func f() *int { return &n }", "takes the address of n"},
		"a lock":                {"func f() { lock.Lock() }", "takes the address of lock"},
		"another package's":     {"func f() { os.Args = nil }", "writes Args"},
		"handing out":           {"func F() []string { return list }", "hands out list"},
		"handing out privately": {"func f() []string { return list }", ""},
		"exported":              {"var N int", "exports N"},
		"the environment":       {"func f() { _ = os.Setenv(\"A\", \"b\") }", "calls os.Setenv"},
	} {
		t.Run(name, func(t *testing.T) {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, "p.go", head+c.text, 0)
			if err != nil {
				t.Fatal(err)
			}
			files := []*ast.File{file}
			found := globalState("pkg/p", fset, files, typesOf(t, importing(t, fset), fset, "p", files))
			if text := strings.Join(found, "\n"); (c.want == "") != (text == "") || !strings.Contains(text, c.want) {
				t.Errorf("found %q, want %q", text, c.want)
			}
		})
	}
}

// globalState lists what is wrong with a package.
func globalState(path string, fset *token.FileSet, files []*ast.File, info *types.Info) []string {
	g := &globals{path: path, fset: fset, info: info}
	library := strings.HasPrefix(path, "pkg/")
	for _, file := range files {
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Body == nil || d.Name.Name == "init" && d.Recv == nil {
					continue
				}
				ast.Inspect(d.Body, func(n ast.Node) bool {
					g.writes(n)
					if library {
						g.process(n)
						g.returns(n, d.Name.IsExported())
					}
					return true
				})
			case *ast.GenDecl:
				if library && d.Tok == token.VAR {
					g.exported(d)
				}
			}
		}
	}
	return g.found
}

type globals struct {
	path  string
	fset  *token.FileSet
	info  *types.Info
	found []string
}

func (g *globals) add(at ast.Node, what, name string) {
	switch full := g.path + "." + name; {
	case shared[full] != "", what == "takes the address of" && looked[full]:
		return
	}
	g.found = append(g.found, fmt.Sprintf("%s: %s %s", g.fset.Position(at.Pos()), what, name))
}

// global is the package-level variable that an expression is, or is a part of.
func (g *globals) global(e ast.Expr) *types.Var {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			v, ok := g.info.Uses[x].(*types.Var)
			if ok && !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
				return v
			}
			return nil
		case *ast.SelectorExpr:
			if g.info.Selections[x] == nil { // package.Name
				e = x.Sel
			} else {
				e = x.X
			}
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// writes finds what writes to a variable, or could: an address, and a method that
// takes one.
func (g *globals) writes(n ast.Node) {
	var targets []ast.Expr
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			targets = n.Lhs
		}
	case *ast.IncDecStmt:
		targets = []ast.Expr{n.X}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			targets = []ast.Expr{n.Key, n.Value}
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			targets = []ast.Expr{n.X}
		}
	case *ast.SelectorExpr:
		s := g.info.Selections[n]
		if s == nil || s.Kind() != types.MethodVal || types.IsInterface(s.Recv()) {
			return
		}
		_, takesPointer := types.Unalias(s.Obj().(*types.Func).Signature().Recv().Type()).(*types.Pointer)
		_, isPointer := s.Recv().Underlying().(*types.Pointer)
		if takesPointer && !isPointer {
			targets = []ast.Expr{n.X}
		}
	case *ast.CallExpr:
		id, ok := n.Fun.(*ast.Ident)
		if !ok {
			return
		}
		if b, ok := g.info.Uses[id].(*types.Builtin); ok && slices.Contains([]string{"delete", "clear", "copy"}, b.Name()) {
			targets = n.Args[:1]
		}
	}
	what := "writes"
	switch n.(type) {
	case *ast.UnaryExpr, *ast.SelectorExpr:
		what = "takes the address of"
	}
	for _, e := range targets {
		if v := g.global(e); v != nil {
			g.add(n, what, v.Name())
		}
	}
}

// process finds calls that change the process.
func (g *globals) process(n ast.Node) {
	id, ok := n.(*ast.Ident)
	if !ok {
		return
	}
	if f, ok := g.info.Uses[id].(*types.Func); ok && f.Pkg() != nil && slices.Contains(processWide, f.Pkg().Path()+"."+f.Name()) {
		g.add(n, "calls", f.Pkg().Path()+"."+f.Name())
	}
}

// returns finds a list or a map that a caller of another package could then write to.
func (g *globals) returns(n ast.Node, exported bool) {
	r, ok := n.(*ast.ReturnStmt)
	if !ok || !exported {
		return
	}
	for _, e := range r.Results {
		v := g.global(e)
		if v == nil {
			continue
		}
		switch g.info.Types[e].Type.Underlying().(type) {
		case *types.Slice, *types.Map, *types.Pointer:
			g.add(n, "hands out", v.Name())
		}
	}
}

// exported finds variables that anybody could write to. Errors are exported like
// that everywhere.
func (g *globals) exported(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		for _, name := range spec.(*ast.ValueSpec).Names {
			if name.IsExported() && !strings.HasPrefix(name.Name, "Err") {
				g.add(name, "exports", name.Name)
			}
		}
	}
}
