package repo

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// goPackage is one package as `go list -export` tells of it.
type goPackage struct {
	ImportPath, Dir string
	Export          string // the file that has its types, as the compiler left it
	GoFiles         []string
}

// packages are those of the module and all that they import, by path. Asking for
// them compiles what is not compiled yet; `go vet` has done so in make test.
var packages = sync.OnceValues(func() (map[string]goPackage, error) {
	cmd := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles", "./...")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	all := map[string]goPackage{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all[p.ImportPath] = p
	}
})

// importing makes an importer of compiled packages.
func importing(t *testing.T, fset *token.FileSet) types.Importer {
	t.Helper()
	all, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(all[path].Export) })
}

// checked calls fn for each package of the module below one of the folders, with its
// files and what the type checker knows of them. Test files are not among them.
func checked(t *testing.T, folders []string, fn func(path string, fset *token.FileSet, files []*ast.File, info *types.Info)) {
	t.Helper()
	all, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	imp := importing(t, fset)
	for _, p := range all {
		rel, ours := strings.CutPrefix(p.ImportPath, module+"/")
		folder, _, _ := strings.Cut(rel, "/")
		if !ours || !slices.Contains(folders, folder) {
			continue
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		fn(rel, fset, files, typesOf(t, imp, fset, p.ImportPath, files))
	}
}

func typesOf(t *testing.T, imp types.Importer, fset *token.FileSet, path string, files []*ast.File) *types.Info {
	t.Helper()
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: imp}
	if _, err := conf.Check(path, fset, files, info); err != nil {
		t.Fatal(err)
	}
	return info
}
