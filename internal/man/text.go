package man

// What the pages say beyond the help of the commands. Tests of cmd/claude-fleet
// hold that each example is a call that its command takes.

type named struct{ name, text string }

var environment = []named{
	{"CLAUDE_FLEET_CONFIG", "The fleet table, where --config does not name one."},
	{"CLAUDE_FLEET_SERVE", "off: log in by oneself, also where claude-fleet serve runs."},
	{"XDG_RUNTIME_DIR", "The folder of the socket of serve; without it /run/user/UID, where there is one, else that of XDG_STATE_HOME."},
	{"XDG_CONFIG_HOME", "The folder in which claude-fleet/fleet.conf is looked for, in place of ~/.config."},
	{"XDG_STATE_HOME", "The folder of the state file of status --changed and --notify, and of the socket of serve where there is no better one, in place of ~/.local/state."},
	{"NO_COLOR", "Anything but an empty value turns colours off, as --color never does; --color always goes before it."},
	{"COLUMNS", "How wide a terminal is that does not know; 80 without it."},
	{"TERM", "On a terminal called dumb nothing is coloured; attach hands the name on to the host."},
	{"SSH_AUTH_SOCK", "The agent that logins are offered from, unless ssh_config names another."},
	{"SHELL", "The shell that runs a ProxyCommand and a Match exec of ssh_config."},
}

var files = []named{
	{"~/.config/claude-fleet/fleet.conf", "The fleet table."},
	{"~/.ssh/config, /etc/ssh/ssh_config, ~/.ssh/known_hosts", "What is said there of a host holds here as for ssh(1)."},
	{"~/.local/state/claude-fleet/status", "Here: what status --changed and --notify last saw and told."},
	{"$XDG_RUNTIME_DIR/claude-fleet/serve.sock", "Here: where serve listens, while it runs; beside it the lock that makes it the only one."},
	{"~/.config/claude-fleet/env", "On a host, mode 0600: the token that reauth wrote, given to the client alone."},
	{"~/.fleet-workdir, ~/.config/systemd/user/claude-tmux.service", "On a host: what init wrote."},
	{"~/.local/state/claude-fleet", "On a host: a small file for each prompt of the last days, without the prompt, by which outcome knows what became of it."},
	{"~/.claude", "On a host: the client's own files, which are read and never written."},
}

type example struct{ text, line string }

var examples = map[string][]example{
	"claude-fleet": {
		{"Look at every session", "claude-fleet status"},
		{"Bring up what is down", "claude-fleet up @all"},
		{"Send a prompt, and print the last words of its turn", "claude-fleet send web --wait 'run the tests'"},
	},
	"answer": {
		{"Show what a session asks", "claude-fleet answer web"},
		{"Choose an option by its label", "claude-fleet answer web Postgres"},
		{"Answer in words", "claude-fleet answer web --text 'neither of them'"},
	},
	"attach":     {{"Take a session over until Ctrl+B D", "claude-fleet attach web"}},
	"completion": {{"Complete in the running bash", "source <(claude-fleet completion bash)"}},
	"discover":   {{"Add to the table what runs on a machine and is not in it", "claude-fleet discover web >> ~/.config/claude-fleet/fleet.conf"}},
	"doctor": {
		{"Examine this machine and every host", "claude-fleet doctor"},
		{"Name the faults of one host, for a program", "claude-fleet doctor web --json"},
	},
	"explain": {
		{"Tell why a host is in its state", "claude-fleet explain web"},
		{"Explain a screen that was saved", "claude-fleet explain --screen screen.ansi"},
	},
	"init":      {{"See what the systemd unit would change on a host", "claude-fleet init web --unit --dry-run"}},
	"interrupt": {{"Stop the turn that runs", "claude-fleet interrupt web"}},
	"map": {
		{"Write the table as TOML, whichever form it has", "claude-fleet map --toml"},
		{"Begin a table from ssh_config", "claude-fleet map --import"},
	},
	"outcome": {{"Ask what became of a prompt", "claude-fleet outcome web 7c3e2f10"}},
	"read": {
		{"Show the last fifty lines of a conversation", "claude-fleet read web 50"},
		{"Show the last two turns whole", "claude-fleet read web --turns 2"},
	},
	"reauth": {
		{"Sign in once for two hosts", "claude-fleet reauth web db"},
		{"Take a token from a password store", "pass show fleet-token | claude-fleet reauth web --token-stdin"},
	},
	"restart": {{"End a session whatever it does, and begin a new conversation", "claude-fleet restart web --fresh"}},
	"send": {
		{"Send a prompt", "claude-fleet send web 'run the tests'"},
		{"Send a file to all hosts with a tag, unasked", "claude-fleet send @gpu --file task.md --yes"},
		{"Wait for the turn's end", "claude-fleet send web --wait --timeout 30m 'run the tests'"},
	},
	"serve": {
		{"Hold connections until nobody has called for an hour", "claude-fleet serve --idle 1h"},
		{"Tell whether one runs, and which connections it has", "claude-fleet serve --status"},
	},
	"status": {
		{"Look at the hosts with a tag", "claude-fleet status @gpu"},
		{"From cron: print only what needs a person", "claude-fleet status --check"},
	},
	"up":      {{"Bring up one host", "claude-fleet up web"}},
	"version": {{"Tell a program the version", "claude-fleet version --json"}},
	"wait":    {{"Wait until one of two hosts is ready", "claude-fleet wait web db --any --timeout 1h"}},
}

// Examples are the lines that the page of a command shows as examples.
func Examples(command string) []string {
	var lines []string
	for _, x := range examples[command] {
		lines = append(lines, x.line)
	}
	return lines
}
