package detect

import (
	"slices"
	"strconv"
	"strings"
)

// recorded are the versions of the client whose screens the rules were made
// from, the oldest first: those of testdata/screens, which a test holds to this.
var recorded = [...]string{"1.0.128", "2.0.76", "2.1.0", "2.1.85", "2.1.202", "2.1.217", "2.1.252", "2.1.300", "2.1.332"}

// RecordedVersions are the versions of the client whose screens the rules were
// recorded with, the oldest first. What a newer one draws may read as unknown,
// which is typed into by nobody.
func RecordedVersions() []string { return slices.Clone(recorded[:]) }

// VersionFit says how a client's version stands to those that were recorded.
type VersionFit int

// The fits.
const (
	VersionUnread VersionFit = iota // no version: it can't be compared
	VersionOlder                    // than the oldest
	VersionKnown                    // one of them, or between two of them
	VersionNewer                    // than the newest
)

// FitOf compares a version such as "2.1.332" with those that were recorded. What
// stands behind a dash, as in "2.1.332-beta.1", is passed over.
func FitOf(version string) VersionFit {
	v, ok := versionParts(version)
	if !ok {
		return VersionUnread
	}
	oldest, _ := versionParts(recorded[0])
	newest, _ := versionParts(recorded[len(recorded)-1])
	switch {
	case slices.Compare(v, oldest) < 0:
		return VersionOlder
	case slices.Compare(v, newest) > 0:
		return VersionNewer
	}
	return VersionKnown
}

// VersionAtLeast tells whether a version is want or newer. One that can't be read
// counts as old; what stands behind a dash is passed over.
func VersionAtLeast(version, want string) bool {
	v, ok := versionParts(version)
	w, known := versionParts(want)
	return ok && known && slices.Compare(v, w) >= 0
}

// versionParts are the three numbers of a version.
func versionParts(version string) ([]int, bool) {
	number, _, _ := strings.Cut(version, "-")
	words := strings.Split(number, ".")
	if len(words) != 3 {
		return nil, false
	}
	parts := make([]int, len(words))
	for i, w := range words {
		n, err := strconv.ParseUint(w, 10, 31)
		if err != nil {
			return nil, false
		}
		parts[i] = int(n)
	}
	return parts, true
}
