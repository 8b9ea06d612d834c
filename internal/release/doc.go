// Command release makes the archives of a release, and checks them.
//
//	go run ./internal/release -out dist    # make release
//	go run ./internal/release -check       # make release-check
//
// One commit gives the same bytes in any folder on any machine, for one version of
// Go: nothing of the folder, the time or the user goes in.
//
// What may live here: building, packing and examining what is published. What may
// not: anything that the product links.
package main
