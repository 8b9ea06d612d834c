package detect

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestRecordedVersions holds the list to the screens that are there.
func TestRecordedVersions(t *testing.T) {
	entries, err := os.ReadDir("testdata/screens")
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, e := range entries {
		version, _, _ := strings.Cut(e.Name(), "-")
		if e.IsDir() && !slices.Contains(there, version) {
			there = append(there, version)
		}
	}
	slices.SortFunc(there, func(a, b string) int {
		x, okX := versionParts(a)
		y, okY := versionParts(b)
		if !okX || !okY {
			t.Fatalf("%q or %q is no version", a, b)
		}
		return slices.Compare(x, y)
	})
	if got := RecordedVersions(); !slices.Equal(got, there) {
		t.Errorf("the rules say that they were recorded with %q, and there are screens of %q", got, there)
	}
}

func TestFitOf(t *testing.T) {
	for version, want := range map[string]VersionFit{
		"2.1.332": VersionKnown, "2.1.301": VersionKnown, "1.0.128": VersionKnown, "2.1.332-beta.1": VersionKnown,
		"2.1.333": VersionNewer, "2.2.0": VersionNewer, "10.0.0": VersionNewer,
		"1.0.127": VersionOlder, "0.9.999": VersionOlder,
		"": VersionUnread, "2.1": VersionUnread, "2.1.x": VersionUnread, "2.1.-3": VersionUnread, "2.1.99999999999": VersionUnread,
	} {
		if got := FitOf(version); got != want {
			t.Errorf("%q: %d, want %d", version, got, want)
		}
	}
}

func TestVersionAtLeast(t *testing.T) {
	for version, want := range map[string]bool{
		"2.1.202": true, "2.1.203": true, "2.2.0": true, "3.0.0": true, "2.1.202-beta": true,
		"2.1.85": false, "2.0.999": false, "1.9.9": false, "2.1": false, "": false, "x": false,
	} {
		if got := VersionAtLeast(version, "2.1.202"); got != want {
			t.Errorf("%q: %v", version, got)
		}
	}
}
