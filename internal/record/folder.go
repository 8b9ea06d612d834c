package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// base is where hosts are made. Their paths are on the screens, so they are
// short, and of one length in every recording.
const base = "/tmp/rec"

// maxFolders is how many tracks can run on a machine at once.
const maxFolders = 9

// takeFolder finds a folder that no other recording uses, waiting for one where
// all are taken. The lock falls with its process.
func takeFolder(ctx context.Context) (dir string, free func(), err error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", nil, fmt.Errorf("make the folder of the hosts: %w", err)
	}
	for {
		for i := 1; i <= maxFolders; i++ {
			dir := filepath.Join(base, fmt.Sprint(i))
			lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
			if err != nil {
				return "", nil, fmt.Errorf("lock a folder for hosts: %w", err)
			}
			err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
			if err == nil {
				// What a killed recording left behind.
				if err := os.RemoveAll(dir); err != nil {
					return "", nil, errors.Join(fmt.Errorf("clear a folder for hosts: %w", err), lock.Close())
				}
				return dir, func() { _, _ = os.RemoveAll(dir), lock.Close() }, nil
			}
			_ = lock.Close()
			if !errors.Is(err, syscall.EWOULDBLOCK) {
				return "", nil, fmt.Errorf("lock a folder for hosts: %w", err)
			}
		}
		if err := tick(ctx, time.Second); err != nil {
			return "", nil, fmt.Errorf("wait for a folder for hosts: %w", err)
		}
	}
}
