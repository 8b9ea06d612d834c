package repo

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/claude-fleet/claude-fleet"
)

// goFiles calls fn for each Go file of the module, by its path below the root.
func goFiles(t *testing.T, fn func(path string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		fn(filepath.ToSlash(rel), file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPackageComments holds that each package says once what it is and what
// may live in it.
func TestPackageComments(t *testing.T) {
	comments := map[string][]string{}
	goFiles(t, func(path string, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		dir := filepath.Dir(path)
		if file.Doc != nil {
			comments[dir] = append(comments[dir], file.Doc.Text())
		} else if comments[dir] == nil {
			comments[dir] = []string{}
		}
	})
	for dir, docs := range comments {
		if len(docs) != 1 {
			t.Errorf("%s has %d package comments, not one", dir, len(docs))
			continue
		}
		if !strings.HasPrefix(dir, "examples/") && !strings.Contains(strings.Join(strings.Fields(docs[0]), " "), "What may live here") {
			t.Errorf("the package comment of %s does not say what may live there", dir)
		}
	}
}

// TestLayers holds the layers that the linter holds too (.golangci.yml), for
// whoever has no linter. Test files may import what they need.
func TestLayers(t *testing.T) {
	const pkg = module + "/pkg/"
	forbidden := map[string][]string{
		"pkg/detect":     {module, "os", "net", "io"},
		"pkg/transport":  {module},
		"pkg/relay":      {pkg + "fleet", pkg + "transcript", pkg + "tmux", pkg + "detect", "github.com/spf13", "golang.org/x/term"},
		"pkg/transcript": {pkg + "fleet", pkg + "tmux", pkg + "detect"},
		"pkg/tmux":       {pkg + "fleet", pkg + "transcript", pkg + "detect"},
		"pkg/fleet":      {"github.com/spf13", "golang.org/x/term", "golang.org/x/crypto", "os/exec", pkg + "setuptoken", pkg + "notify"},
		"pkg/notify":     {"github.com/spf13", "golang.org/x/term", pkg + "tmux", pkg + "transport"},
		"pkg/setuptoken": {"github.com/spf13", "golang.org/x/term", pkg + "tmux", pkg + "transcript", pkg + "detect"},
		"cmd":            {pkg + "tmux", pkg + "transcript", "os/exec"},
		"pkg":            {module + "/internal"},
		"examples":       {module + "/internal", pkg + "tmux", pkg + "transcript"},
	}
	goFiles(t, func(path string, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		for layer, denied := range forbidden {
			if !strings.HasPrefix(path, layer+"/") {
				continue
			}
			for _, imp := range file.Imports {
				name := strings.Trim(imp.Path.Value, `"`)
				for _, d := range denied {
					if name == d || strings.HasPrefix(name, d+"/") {
						t.Errorf("%s imports %s, which %s must not", path, name, layer)
					}
				}
			}
		}
	})
}

// TestNothingSkipped holds that no test of the module skips itself or sleeps.
func TestNothingSkipped(t *testing.T) {
	goFiles(t, func(path string, file *ast.File) {
		if !strings.HasSuffix(path, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, _ := sel.X.(*ast.Ident)
			if strings.HasPrefix(sel.Sel.Name, "Skip") && len(call.Args) <= 2 && x != nil && (x.Name == "t" || x.Name == "b" || x.Name == "f") {
				t.Errorf("%s skips a test", path)
			}
			if x != nil && x.Name == "time" && sel.Sel.Name == "Sleep" {
				t.Errorf("%s sleeps: poll for the condition with a deadline instead", path)
			}
			return true
		})
	})
}

// TestHostKeysAlwaysChecked holds that the way to turn host keys off is not in
// the tree at all.
func TestHostKeysAlwaysChecked(t *testing.T) {
	goFiles(t, func(path string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name == "InsecureIgnore"+"HostKey" {
				t.Errorf("%s turns host key checking off", path)
			}
			return true
		})
	})
}

// TestDirectDependencies holds go.mod to what the module imports itself.
func TestDirectDependencies(t *testing.T) {
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Module  struct{ Path string }
		Go      string
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	if mod.Module.Path != module || !strings.HasPrefix(mod.Go, "1.26") {
		t.Errorf("go.mod is of %s for Go %s", mod.Module.Path, mod.Go)
	}
	used := map[string]bool{}
	goFiles(t, func(_ string, file *ast.File) {
		for _, imp := range file.Imports {
			for _, r := range mod.Require {
				name := strings.Trim(imp.Path.Value, `"`)
				if name == r.Path || strings.HasPrefix(name, r.Path+"/") {
					used[r.Path] = true
				}
			}
		}
	})
	for _, r := range mod.Require {
		if used[r.Path] == r.Indirect {
			t.Errorf("go.mod: %s: imported %v, marked indirect %v", r.Path, used[r.Path], r.Indirect)
		}
	}
}

// TestReadmeNamesEveryCommand holds the README's list of commands to the CLI's.
func TestReadmeNamesEveryCommand(t *testing.T) {
	readme := strings.ReplaceAll(read(t, "README.md"), `\|`, "|") // a bar in a table is escaped
	files, err := filepath.Glob(filepath.Join(root, "cmd/claude-fleet/*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files of the CLI: ", err)
	}
	uses := regexp.MustCompile("Use: +\"([^\"]+)\"")
	var commands []string
	for _, f := range files {
		for _, m := range uses.FindAllStringSubmatch(read(t, strings.TrimPrefix(f, root+"/")), -1) {
			if m[1] != "claude-fleet" {
				commands = append(commands, m[1])
			}
		}
	}
	slices.Sort(commands)
	for _, c := range commands {
		if !strings.Contains(readme, "`"+c+"`") {
			t.Errorf("README.md does not list the command `%s`", c)
		}
	}
	// The two commands that a newcomer runs exist.
	makefile := read(t, "Makefile")
	for _, target := range []string{"demo", "test"} {
		if !strings.Contains(readme, "make "+target) || !strings.Contains(makefile, "\n"+target+":") {
			t.Errorf("make %s is not in both README.md and Makefile", target)
		}
	}
	if !strings.Contains(read(t, ".ci/run"), "make test") {
		t.Error(".ci/run does not run the README's test command")
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
