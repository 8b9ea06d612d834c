// Package docs holds the generated parts of the documents to the code.
//
// A generated part stands between two comments that its reader does not see:
//
//	<!-- generated: NAME, by make docs -->
//	…
//	<!-- end: NAME -->
//
// What may live here: finding and replacing such a part. What may not: what stands
// in it, which the test that knows the code gives.
package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// UpdateEnv names the variable that has Hold write the parts anew. `make docs`
// sets it.
const UpdateEnv = "CLAUDE_FLEET_WRITE_DOCS"

// Hold fails the test unless the part called name of a document holds exactly
// text; with UpdateEnv set it writes it there instead. path is below the root of
// the repository, with slashes. Tests that hold parts of one document must not run
// at once.
func Hold(t *testing.T, path, name, text string) {
	t.Helper()
	file, err := find(path)
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	updated, err := replace(string(old), name, text)
	switch {
	case err != nil:
		t.Fatalf("%s: %v", path, err)
	case updated == string(old):
	case os.Getenv(UpdateEnv) == "":
		t.Errorf("%s: the part %q is not what the code says; run: make docs\n%s", path, name, firstDifference(string(old), updated))
	default:
		if err := os.WriteFile(file, []byte(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// find looks for a file of the repository from the folder of the test upwards.
func find(path string) (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, filepath.FromSlash(path)), nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.mod above the test")
		}
		dir = up
	}
	return "", err
}

// replace puts text into the part of that name.
func replace(document, name, text string) (string, error) {
	begin, end := fmt.Sprintf("<!-- generated: %s, by make docs -->\n", name), fmt.Sprintf("<!-- end: %s -->\n", name)
	if n, m := strings.Count(document, begin), strings.Count(document, end); n != 1 || m != 1 {
		return "", fmt.Errorf("the part %q begins %d times and ends %d times, not once", name, n, m)
	}
	before, rest, _ := strings.Cut(document, begin)
	_, after, found := strings.Cut(rest, end)
	if !found {
		return "", fmt.Errorf("the part %q ends before it begins", name)
	}
	return before + begin + strings.TrimRight(text, "\n") + "\n" + end + after, nil
}

// firstDifference shows the first line in which two documents differ.
func firstDifference(old, updated string) string {
	have, want := strings.Split(old, "\n"), strings.Split(updated, "\n")
	for i := range min(len(have), len(want)) {
		if have[i] != want[i] {
			return fmt.Sprintf("line %d is   %q\nand would be %q", i+1, have[i], want[i])
		}
	}
	return fmt.Sprintf("it has %d lines and would have %d", len(have), len(want))
}
