package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// The part of CycloneDX 1.6 that we write.
type (
	bom struct {
		Format      string      `json:"bomFormat"`
		SpecVersion string      `json:"specVersion"`
		Version     int         `json:"version"`
		Metadata    metadata    `json:"metadata"`
		Components  []component `json:"components"`
		Graph       []depends   `json:"dependencies"`
	}
	metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		PURL       string     `json:"purl"`
		Hashes     []hash     `json:"hashes,omitempty"`
		Licenses   []license  `json:"licenses,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}
	hash struct {
		Alg     string `json:"alg"`
		Content string `json:"content"`
	}
	license struct {
		License struct {
			ID string `json:"id"`
		} `json:"license"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	depends struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn"`
	}
)

// sbom is the bill of materials of a binary: the modules that were linked into
// it, as the binary itself says, and the Go that made it.
func sbom(binary []byte, r revision) ([]byte, error) {
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return nil, fmt.Errorf("the binary does not say what is in it: %w", err)
	}
	main := newComponent("application", info.Main.Path, r.version)
	main.Hashes = []hash{{"SHA-256", fmt.Sprintf("%x", sha256.Sum256(binary))}}
	main.Licenses = make([]license, 1)
	main.Licenses[0].License.ID = "MIT"
	for _, s := range info.Settings {
		if s.Key == "GOOS" || s.Key == "GOARCH" || s.Key == "CGO_ENABLED" || s.Key == "-trimpath" {
			main.Properties = append(main.Properties, property{"go:" + strings.TrimPrefix(s.Key, "-"), s.Value})
		}
	}
	b := bom{Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Metadata: metadata{r.time.Format(time.RFC3339), main}}
	b.Components = []component{newComponent("library", "std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		c, err := moduleComponent(m)
		if err != nil {
			return nil, err
		}
		b.Components = append(b.Components, c)
	}
	all := depends{Ref: main.Ref}
	for _, c := range b.Components {
		all.On = append(all.On, c.Ref)
	}
	b.Graph = []depends{all}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(b)
	return out.Bytes(), err
}

// moduleComponent is a module with its hash of go.sum, h1, which is a SHA-256
// over the hashes of its files.
func moduleComponent(m *debug.Module) (component, error) {
	if m.Replace != nil {
		return component{}, fmt.Errorf("%s is replaced in go.mod: a release is made of published modules", m.Path)
	}
	c := newComponent("library", m.Path, m.Version)
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
	if err != nil || len(sum) != sha256.Size {
		return component{}, fmt.Errorf("%s has no sum in the binary (%q): is it in go.sum?", m.Path, m.Sum)
	}
	c.Hashes = []hash{{"SHA-256", fmt.Sprintf("%x", sum)}}
	return c, nil
}

func newComponent(kind, name, version string) component {
	purl := "pkg:golang/" + name + "@" + strings.ReplaceAll(version, "+", "%2B")
	return component{Type: kind, Ref: purl, Name: name, Version: version, PURL: purl}
}
