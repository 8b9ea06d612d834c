// Package fleet models a fleet of claude sessions and the verbs over it.
package fleet
