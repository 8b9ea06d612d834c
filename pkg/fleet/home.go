package fleet

import (
	"os"
	"os/user"
	"path/filepath"
)

// homeDir is $HOME, else what the user database says: cron and systemd services
// may have no HOME.
func homeDir() (string, error) {
	if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		return home, nil
	}
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return u.HomeDir, nil
}
