// Package repo holds tests about the repository itself.
//
// What may live here: tests that hold the layers, the package comments and the
// documents to the code. What may not: anything that another package imports.
package repo
