package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// file is one of an archive.
type file struct {
	name string // below the archive's one folder
	mode int64
	data []byte
}

// beside is what an archive has beside the binary, from the repository.
var beside = map[string]string{
	"README.md":                     "README.md",
	"LICENSE":                       "LICENSE",
	"fleet.conf.example":            "fleet.conf.example",
	"completions/claude-fleet.bash": "cmd/claude-fleet/completion/bash",
	"completions/_claude-fleet":     "cmd/claude-fleet/completion/zsh",
	"completions/claude-fleet.fish": "cmd/claude-fleet/completion/fish",
}

// release builds all targets of the clone at src into the folder out.
func release(ctx context.Context, src, out string) (revision, error) {
	r, err := revisionOf(ctx, src)
	if err != nil {
		return r, err
	}
	tmp, err := os.MkdirTemp("", "claude-fleet-release-")
	if err != nil {
		return r, err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if err := clear(out); err != nil {
		return r, err
	}
	shared, err := sharedFiles(ctx, src, r, filepath.Join(tmp, "man1"))
	if err != nil {
		return r, err
	}
	sums := map[string][]byte{}
	for _, t := range targets {
		binary := filepath.Join(tmp, t.os+"-"+t.arch)
		if err := build(ctx, src, t, r, binary); err != nil {
			return r, err
		}
		data, err := os.ReadFile(binary)
		if err != nil {
			return r, err
		}
		packed, err := pack(r.name(t), r.time, append(slices.Clone(shared), file{"claude-fleet", 0o755, data}))
		if err != nil {
			return r, err
		}
		bom, err := sbom(data, r)
		if err != nil {
			return r, err
		}
		sums[r.name(t)+".tar.gz"], sums[r.name(t)+".cdx.json"] = packed, bom
	}
	sums["SHA256SUMS"] = sumsOf(sums)
	var errs []error
	for name, data := range sums {
		errs = append(errs, os.WriteFile(filepath.Join(out, name), data, 0o644))
	}
	return r, errors.Join(errs...)
}

// clear makes the folder, without what an earlier release left there.
func clear(out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(out)
	for _, e := range entries {
		if n := e.Name(); n == "SHA256SUMS" || strings.HasPrefix(n, "claude-fleet_") && !e.IsDir() {
			err = errors.Join(err, os.Remove(filepath.Join(out, n)))
		}
	}
	return err
}

// sharedFiles are those that every archive has.
func sharedFiles(ctx context.Context, src string, r revision, man string) ([]file, error) {
	if err := manual(ctx, src, r, man); err != nil {
		return nil, err
	}
	paths := map[string]string{}
	for name, path := range beside {
		paths[name] = filepath.Join(src, path)
	}
	pages, err := filepath.Glob(filepath.Join(man, "*.1"))
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		paths["man/man1/"+filepath.Base(p)] = p
	}
	var files []file
	for name, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, data})
	}
	return files, nil
}

// pack gives a tar.gz of the files below one folder: sorted, all of one time and
// of nobody.
func pack(folder string, at time.Time, files []file) ([]byte, error) {
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var b bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(zipped)
	for _, f := range files {
		head := &tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: at.Truncate(time.Second)}
		if err := w.WriteHeader(head); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// sumsOf is what sha256sum would print of the files.
func sumsOf(files map[string][]byte) []byte {
	var lines []string
	for name, data := range files {
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(data), name))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return []byte(strings.Join(lines, ""))
}
