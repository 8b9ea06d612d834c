package transport

import "strings"

// PlainPath is sh for the beginning of a Script: it sets the variable fleet_plain
// to the PATH that the host gave, without the places that Run appends to it.
func PlainPath() string {
	_, appended, _ := strings.Cut(pathPrologue, "}:")
	appended, _, _ = strings.Cut(appended, "\"\n")
	return `fleet_plain=${PATH%":` + appended + "\"}\n"
}
