package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

var at = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func TestPack(t *testing.T) {
	files := []file{{"claude-fleet", 0o755, []byte("x")}, {"README.md", 0o644, []byte("read")}}
	one, err := pack("f", at, files)
	if err != nil {
		t.Fatal(err)
	}
	other, err := pack("f", at, []file{files[1], files[0]})
	if err != nil || !bytes.Equal(one, other) {
		t.Error("the order of the files shows in the archive: ", err)
	}
	if later, _ := pack("f", at.Add(time.Minute), files); bytes.Equal(one, later) {
		t.Error("the time of the commit does not show in the archive")
	}
	got, err := unpack(one, "f")
	if err != nil || string(got["README.md"]) != "read" || len(got) != 2 {
		t.Errorf("unpacked %q, %v", got, err)
	}
}

func TestUnpackRefuses(t *testing.T) {
	for _, c := range []struct {
		head tar.Header
		want string // "" where it is taken
	}{
		{tar.Header{Name: "f/README.md", Mode: 0o644}, ""},
		{tar.Header{Name: "README.md", Mode: 0o644}, "not a file below f"},
		{tar.Header{Name: "f/../../x", Mode: 0o644}, "not a file below f"},
		{tar.Header{Name: "f/x", Mode: 0o644, Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, "not a file below f"},
		{tar.Header{Name: "f/x", Mode: 0o644, Uid: 1000}, "has an owner"},
		{tar.Header{Name: "f/x", Mode: 0o644, Uname: "me"}, "has an owner"},
		{tar.Header{Name: "f/README.md", Mode: 0o755}, "the mode 755"},
		{tar.Header{Name: "f/claude-fleet", Mode: 0o644}, "the mode 644"},
	} {
		var b bytes.Buffer
		zipped := gzip.NewWriter(&b)
		w := tar.NewWriter(zipped)
		if err := w.WriteHeader(&c.head); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Close(), zipped.Close()
		if _, err := unpack(b.Bytes(), "f"); !saysOrNil(err, c.want) {
			t.Errorf("%v: %v, not %q", c.head, err, c.want)
		}
	}
}

// TestSums has the real sha256sum check ours, and a file that was changed.
func TestSums(t *testing.T) {
	dir := t.TempDir()
	files := map[string][]byte{"b.tar.gz": []byte("bbb"), "a.cdx.json": []byte("{}")}
	sums := sumsOf(files)
	files["SHA256SUMS"] = sums
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := output(t.Context(), dir, nil, "sha256sum", "-c", "SHA256SUMS"); err != nil || !strings.Contains(text, "b.tar.gz: OK") {
		t.Errorf("%s %v", text, err)
	}
	if err := same(dir, dir); err != nil {
		t.Error(err)
	}
	other := t.TempDir()
	if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "b.tar.gz"), []byte("bbc"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := same(dir, other); !saysOrNil(err, "b.tar.gz differs") {
		t.Error(err)
	}
	if err := verify(other, revision{"v1.2.3", at}); !saysOrNil(err, "SHA256SUMS is not that") {
		t.Error(err)
	}
	if err := verify(dir, revision{"v1.2.3", at}); !saysOrNil(err, "belongs to no release") {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(other, "b.tar.gz")); err != nil {
		t.Fatal(err)
	}
	if err := same(dir, other); !saysOrNil(err, "3 files in one folder, 2") {
		t.Error(err)
	}
}

func TestSBOM(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	text, err := sbom(self, revision{"v1.2.3+x", at})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"specVersion": "1.6"`, `"pkg:golang/` + module + `@v1.2.3%2Bx"`, `"timestamp": "2026-11-30T12:00:00Z"`, `"pkg:golang/std@` + strings.TrimPrefix(runtime.Version(), "go")} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if _, err := sbom([]byte("#!/bin/sh\n"), revision{}); err == nil {
		t.Error("a script passes for a binary of Go")
	}
	for _, c := range []struct {
		m    debug.Module
		want string
	}{
		{debug.Module{Path: "m", Version: "v1.0.0", Sum: "h1:" + strings.Repeat("A", 43) + "="}, ""},
		{debug.Module{Path: "m", Version: "v1.0.0"}, "no sum"},
		{debug.Module{Path: "m", Version: "v1.0.0", Sum: "h1:AAAA"}, "no sum"},
		{debug.Module{Path: "m", Version: "v1.0.0", Replace: &debug.Module{Path: "../m"}}, "replaced"},
	} {
		if _, err := moduleComponent(&c.m); !saysOrNil(err, c.want) {
			t.Errorf("%v: %v, not %q", c.m, err, c.want)
		}
	}
	// What make release builds passes; a test is built otherwise.
	if err := verifyBinary(self, target{runtime.GOOS, runtime.GOARCH}); !saysOrNil(err, "not built with") {
		t.Error(err)
	}
}

// TestVerifyELF shows it a program of the system, which is linked to libraries.
func TestVerifyELF(t *testing.T) {
	shell, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := verifyELF(shell, target{"linux", runtime.GOARCH}); !saysOrNil(err, "not static") {
		t.Error(err)
	}
	other := map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
	if err := verifyELF(shell, target{"linux", other}); !saysOrNil(err, "it is for") {
		t.Error(err)
	}
}

func TestVerifyMachO(t *testing.T) {
	const system = "/usr/lib/libSystem.B.dylib"
	uuid, signature := command(loadUUID, make([]byte, 16)), command(codeSignature, make([]byte, 8))
	for _, c := range []struct {
		cpu   uint32
		loads [][]byte
		want  string
	}{
		{0x0100000c, [][]byte{dylib(system), uuid, signature}, ""},
		{0x0100000c, [][]byte{dylib("/opt/homebrew/lib/libx.dylib"), uuid, signature}, "libx.dylib, which not every"},
		{0x0100000c, [][]byte{dylib("@rpath/libx.dylib"), uuid, signature}, "libx.dylib, which not every"},
		{0x0100000c, [][]byte{dylib(system), uuid}, "not signed"},
		{0x0100000c, [][]byte{dylib(system), signature}, "no UUID"},
		{0x01000007, [][]byte{dylib(system), uuid, signature}, "it is for"},
	} {
		body := bytes.Join(c.loads, nil)
		var b bytes.Buffer
		for _, v := range []uint32{0xfeedfacf, c.cpu, 0, 2, uint32(len(c.loads)), uint32(len(body)), 0, 0} {
			b.Write(binary.LittleEndian.AppendUint32(nil, v))
		}
		b.Write(body)
		if err := verifyMachO(b.Bytes(), target{"darwin", "arm64"}); !saysOrNil(err, c.want) {
			t.Errorf("%x: %v, not %q", b.Bytes(), err, c.want)
		}
	}
}

// command is a load command of Mach-O.
func command(kind uint32, body []byte) []byte {
	head := binary.LittleEndian.AppendUint32(nil, kind)
	return append(binary.LittleEndian.AppendUint32(head, uint32(8+len(body))), body...)
}

func dylib(name string) []byte {
	body := binary.LittleEndian.AppendUint32(nil, 24) // where the name begins
	body = append(body, make([]byte, 12)...)          // times and versions
	text := make([]byte, (len(name)/8+1)*8)
	copy(text, name)
	return command(0xc, append(body, text...))
}

func saysOrNil(err error, want string) bool {
	if want == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), want)
}

// TestGoEnv holds that of a file of `go env -w` only the sources of modules count.
func TestGoEnv(t *testing.T) {
	file := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(file, []byte("GOPRIVATE=example.org/mine\nGOFIPS140=latest\nGOAMD64=v3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOENV", file)
	for _, c := range []struct {
		t    target
		want string // of GOOS
	}{
		{target{"darwin", "arm64"}, "darwin"},
		{target{}, runtime.GOOS},
	} {
		env, err := goEnv(t.Context(), ".", c.t)
		if err != nil {
			t.Fatal(err)
		}
		got, err := output(t.Context(), ".", env, "go", "env", "GOOS", "GOPRIVATE", "GONOPROXY", "GOFIPS140", "GOAMD64")
		if want := c.want + "\nexample.org/mine\nexample.org/mine\noff\nv1"; err != nil || got != want {
			t.Errorf("%v: %q, %v, not %q", c.t, got, err, want)
		}
	}
}

// TestVersion holds scripts/version to what the go command would say, and a
// release to clones without changes.
func TestVersion(t *testing.T) {
	script, err := os.ReadFile("../../scripts/version")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "scripts"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "scripts/version"), script, 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(line string) string {
		t.Helper()
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_COMMITTER_DATE=2026-11-30T14:00:00+02:00")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	const stamp = "20261130120000-" // in UTC, whatever the committer's zone is
	for _, c := range []struct{ line, want string }{
		{"true", ""}, // no clone
		{"git init -q && git add . && git commit -qm one", "v0.0.0-" + stamp + "HASH"},
		// Settings that some people have change nothing.
		{"git config log.showSignature true && git config status.showUntrackedFiles no", "v0.0.0-" + stamp + "HASH"},
		{"touch new", "v0.0.0-" + stamp + "HASH+dirty"},
		{"rm new && git tag vNext && git tag v1 && git tag v01.2.3", "v0.0.0-" + stamp + "HASH"},
		{"git tag -d v1 v01.2.3 && git tag v1.2.3-rc.1", "v1.2.3-rc.1"},
		{"git commit -q --allow-empty -m two", "v1.2.3-rc.1.0." + stamp + "HASH"},
		{"git tag -a -m annotated v1.2.3", "v1.2.3"},
		{"git commit -q --allow-empty -m three", "v1.2.4-0." + stamp + "HASH"},
		{"echo >> scripts/version", "v1.2.4-0." + stamp + "HASH+dirty"},
	} {
		run(c.line)
		want := c.want
		if want != "" {
			want = strings.Replace(want, "HASH", run("git rev-parse HEAD")[:12], 1)
		}
		if got := run("scripts/version"); got != want {
			t.Errorf("after %s: %q, not %q", c.line, got, want)
		}
		// What no commit could be rebuilt from is not released.
		if r, err := revisionOf(t.Context(), dir); (err != nil) != (c.want == "" || strings.HasSuffix(c.want, "+dirty")) {
			t.Errorf("after %s: release takes %v, %v", c.line, r, err)
		}
	}
}
