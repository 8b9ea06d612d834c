package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by a release build (-ldflags "-X main.version=…"); otherwise
// the module's own version says what this is.
var version = ""

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Long:  "Version shows the version of claude-fleet and what it was built with." + exitStatus(0, 2),
		Args:  args(cobra.NoArgs, "version"),
		RunE: func(*cobra.Command, []string) error {
			v := buildVersion()
			if a.json {
				a.printJSON(map[string]string{"version": v, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
			} else {
				fmt.Fprintln(a.out, versionLine())
			}
			return nil
		},
	}
}

func versionLine() string {
	return fmt.Sprintf("claude-fleet %s (%s, %s/%s)", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
