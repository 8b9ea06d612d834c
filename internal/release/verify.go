package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// verify examines a folder of release: that the sums hold and name every file,
// and that each archive holds what it says, made for the system that it says.
func verify(dir string, r revision) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	sums := files["SHA256SUMS"]
	delete(files, "SHA256SUMS")
	if !bytes.Equal(sums, sumsOf(files)) {
		return errors.New("SHA256SUMS is not that of the files beside it")
	}
	var errs []error
	for _, t := range targets {
		if err := verifyTarget(files, t, r); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r.name(t), err))
		}
		delete(files, r.name(t)+".tar.gz")
		delete(files, r.name(t)+".cdx.json")
	}
	for name := range files {
		errs = append(errs, fmt.Errorf("%s belongs to no release", name))
	}
	return errors.Join(errs...)
}

func verifyTarget(files map[string][]byte, t target, r revision) error {
	packed, err := unpack(files[r.name(t)+".tar.gz"], r.name(t))
	if err != nil {
		return err
	}
	for _, name := range append([]string{"man/man1/claude-fleet.1", "man/man1/claude-fleet-send.1"}, keys(beside)...) {
		if len(packed[name]) == 0 {
			return fmt.Errorf("there is no %s in it", name)
		}
	}
	binary := packed["claude-fleet"]
	if err := verifyBinary(binary, t); err != nil {
		return err
	}
	want, err := sbom(binary, r)
	if err == nil && !bytes.Equal(want, files[r.name(t)+".cdx.json"]) {
		err = errors.New("the SBOM is not that of the binary")
	}
	return err
}

// unpack reads an archive of one folder into memory.
func unpack(archive []byte, folder string) (map[string][]byte, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("not a gzip file: %w", err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(zipped); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("not a tar file: %w", err)
		}
		name, below := strings.CutPrefix(head.Name, folder+"/")
		if !below || !filepath.IsLocal(name) || head.Typeflag != tar.TypeReg {
			return nil, fmt.Errorf("%q is not a file below %s", head.Name, folder)
		}
		if head.Uid != 0 || head.Gid != 0 || head.Uname != "" || head.Gname != "" {
			return nil, fmt.Errorf("%s has an owner", name)
		}
		if (name == "claude-fleet") != (head.Mode&0o111 != 0) {
			return nil, fmt.Errorf("%s has the mode %o", name, head.Mode)
		}
		if files[name], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
}

// verifyBinary holds that a binary is for its target and needs nothing there but
// the system: on linux no loader and no library at all, on darwin, where static
// programs do not exist, what every system has.
func verifyBinary(binary []byte, t target) error {
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return err
	}
	for _, want := range []string{"GOOS=" + t.os, "GOARCH=" + t.arch, "CGO_ENABLED=0", "-trimpath=true"} {
		key, value, _ := strings.Cut(want, "=")
		if !slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key && s.Value == value }) {
			return fmt.Errorf("it was not built with %s", want)
		}
	}
	if t.os == "darwin" {
		return verifyMachO(binary, t)
	}
	return verifyELF(binary, t)
}

func verifyELF(binary []byte, t target) error {
	f, err := elf.NewFile(bytes.NewReader(binary))
	if err != nil {
		return err
	}
	if want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[t.arch]; f.Machine != want {
		return fmt.Errorf("it is for %v", f.Machine)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			return fmt.Errorf("it is not static: it has %v", p.Type)
		}
	}
	return nil
}

// The commands of Mach-O that debug/macho has no names for.
const (
	loadUUID      = 0x1b
	codeSignature = 0x1d
)

func verifyMachO(binary []byte, t target) error {
	f, err := macho.NewFile(bytes.NewReader(binary))
	if err != nil {
		return err
	}
	if want := map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}[t.arch]; f.Cpu != want {
		return fmt.Errorf("it is for %v", f.Cpu)
	}
	libraries, err := f.ImportedLibraries()
	if err != nil {
		return err
	}
	for _, l := range libraries {
		if !strings.HasPrefix(l, "/usr/lib/") && !strings.HasPrefix(l, "/System/Library/") {
			return fmt.Errorf("it needs %s, which not every system has", l)
		}
	}
	has := map[uint32]bool{}
	for _, l := range f.Loads {
		if raw := l.Raw(); len(raw) >= 4 {
			has[f.ByteOrder.Uint32(raw)] = true
		}
	}
	// The system kills an unsigned program on arm64; the linker signs by itself.
	if t.arch == "arm64" && !has[codeSignature] {
		return errors.New("it is not signed")
	}
	if !has[loadUUID] {
		return errors.New("it has no UUID, by which the system knows a program in its settings of privacy")
	}
	return nil
}

func keys(m map[string]string) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	return list
}
