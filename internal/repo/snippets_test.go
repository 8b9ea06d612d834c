package repo

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// goBlock is a fenced piece of Go in a document.
var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// snippet is a piece of Go as it would stand in a reader's function, which has a
// context, a fleet and an error by then.
func snippet(body string) string {
	return `package reader

import (
	"context"
	"fmt"
	"log"
	"time"

	"` + module + `/pkg/detect"
	"` + module + `/pkg/fleet"
	"` + module + `/pkg/transport"
)

var _ = []any{context.Background, fmt.Println, log.Print, time.Second, detect.Ready, fleet.Load, transport.Neutralise}

func reader(ctx context.Context, f *fleet.Fleet, err error) error {
	_, _, _ = ctx, f, err
	{
` + body + `	}
	return nil
}
`
}

// checkSnippet compiles a piece of Go.
func checkSnippet(fset *token.FileSet, imp types.Importer, name, body string) error {
	file, err := parser.ParseFile(fset, name, snippet(body), 0)
	if err != nil {
		return err
	}
	_, err = (&types.Config{Importer: imp}).Check("reader", fset, []*ast.File{file}, nil)
	return err
}

// TestSnippets compiles what the documents show of the library, as it stands.
func TestSnippets(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	imp := importing(t, fset)
	found := 0
	for _, path := range append(files, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range goBlock.FindAllSubmatch(text, -1) {
			found++
			if err := checkSnippet(fset, imp, path, string(block[1])); err != nil {
				t.Errorf("%s: %v in\n%s", path, err, block[1])
			}
		}
	}
	if found < 2 {
		t.Errorf("only %d pieces of Go were found", found)
	}
	for name, body := range map[string]string{
		"a variable that nothing uses": "r, err := f.Read(ctx, \"web\", fleet.ReadOptions{})\nfmt.Println(r)\n",
		"a name that is none":          "fmt.Println(fleet.Ready)\n",
		"half a loop":                  "for s := range f.Status(ctx) {\n",
	} {
		if checkSnippet(fset, imp, name, body) == nil {
			t.Errorf("%s compiles", name)
		}
	}
}
