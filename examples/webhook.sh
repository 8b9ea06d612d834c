#!/bin/sh
# webhook.sh FILE posts a change of the fleet to a webhook, for a line of cron such as
#
#   */5 * * * * claude-fleet status --check --notify 'webhook.sh ~/.config/claude-fleet/webhook' >/dev/null
#
# FILE is a configuration file of curl, of mode 0600, with the address and whatever
# else is secret, so that none of it is in a list of processes:
#
#   url = "https://hooks.example.org/T0000/B0000"
#   header = "Authorization: Bearer made-up"
#
# It fails if the change was not taken, and then is told of it again. A redirect is
# no taking: what is behind it has not got the change. No other configuration of curl
# counts (-q, which has to be first).
set -eu
: "${1:?usage: webhook.sh FILE}"
code=$(curl -q --config "$1" --fail --silent --show-error --max-time 8 --max-redirs 0 \
	--header 'Content-Type: application/json' --data-binary @- --output /dev/null --write-out '%{http_code}')
case $code in
2??) ;;
*)
	echo "webhook.sh: the other side answered $code, which is no yes" >&2
	exit 1
	;;
esac
