package tmux

import (
	"fmt"

	"github.com/claude-fleet/claude-fleet/pkg/transport"
)

// readEnv reads the file of Launch.EnvFile into the environment of the shell that
// runs it. All of it but the look at the file's mode is done by the shell itself,
// so that no value ever stands among the arguments of a program. Letters are
// written out, since a range takes in more of them in some locales; and export is
// called by command, for an error of it (a name that the shell keeps to itself)
// would end the shell otherwise. dash and busybox quit at an unreadable file
// behind "<", hence the test.
const readEnv = `if [ -e "$fleet_env" ] || [ -L "$fleet_env" ]; then
fleet_why=
if [ -L "$fleet_env" ]; then fleet_why='it is a link'
elif [ ! -f "$fleet_env" ]; then fleet_why='it is no regular file'
elif [ ! -O "$fleet_env" ]; then fleet_why='it belongs to another account'
elif [ ! -r "$fleet_env" ]; then fleet_why='its mode lets nobody read it'
else case $(LC_ALL=C ls -ldn -- "$fleet_env" 2>/dev/null) in
-???------*) ;;
*) fleet_why='others may read or write it (chmod 600 mends that)' ;;
esac
fi
if [ -n "$fleet_why" ]; then
echo "claude-fleet: ~/"%[1]s" was not read: $fleet_why" >&2
else
while IFS= read -r fleet_line || [ -n "$fleet_line" ]; do
case ${fleet_line%%%%=*} in
"$fleet_line"|""|[0123456789]*|*[!ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_]*) ;;
*) command export "$fleet_line" ;;
esac
done < "$fleet_env"
fi
fi
unset fleet_env fleet_why fleet_line
`

// ReadEnvFile is sh text that takes up the NAME=value lines of a file below the
// home of the account, by its path there, as a launch does: what EnvFile of a
// Launch says holds here too. It changes the shell that runs it, and prints why
// the file was not read, if it was not, on standard error.
func ReadEnvFile(path string) string {
	return "fleet_env=$HOME/" + transport.Quote(path) + "\n" + fmt.Sprintf(readEnv, transport.Quote(path))
}
