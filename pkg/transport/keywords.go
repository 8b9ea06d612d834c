package transport

import "strings"

// fate is what becomes of a keyword here.
type fate int

const (
	// decides: acted on, and the answer to where and as whom we connect, or
	// what we trust, hangs on it.
	decides fate = iota + 1
	// tunes: acted on; leaving it out changes how long or how comfortably.
	tunes
	// harmless: not acted on, and nobody can miss it here.
	harmless
	// named: not acted on; Options.Unhonoured is told where it asks for something.
	named
)

// form is how the arguments of a keyword are read.
type form int

const (
	formWord form = iota + 1 // one argument
	formWords
	formFlag   // yes, no, true, false
	formChoice // one of keyword.values
	formCount
	formPort
	formTime
	formAlgos // a list of algorithms, perhaps with + - or ^ before it
	formFiles // words, or none alone
	formNames // words without an equals sign
	formPairs // words with one
	formAgent // a socket, or the variable that names one
	formJump
	formRest // the rest of the line, whatever is in it
	formLoose
)

// keyword is one of ssh_config(5). The table knows those up to OpenSSH 10, so
// that each is either acted on, harmless, or named.
type keyword struct {
	name string
	form form
	fate fate
	// values are the words of a choice.
	values string
	// idle are the values, parted by |, that ask for nothing. Among them is
	// what ssh -G prints when nobody has set the keyword.
	idle string
}

const yesNo = "yes no true false"

var keywords = []keyword{
	// Which lines count. CanonicalizeHostname is done by ssh -G, and refused
	// where there is none.
	{name: "IgnoreUnknown", form: formWord, fate: decides},
	{name: "Tag", form: formWord, fate: decides},
	{name: "CanonicalizeHostname", form: formChoice, fate: decides, values: yesNo + " always"},
	{name: "CanonicalDomains", form: formWords, fate: decides},
	{name: "CanonicalizeFallbackLocal", form: formFlag, fate: decides},
	{name: "CanonicalizeMaxDots", form: formCount, fate: decides},
	{name: "CanonicalizePermittedCNAMEs", form: formWords, fate: decides},
	{name: "RefuseConnection", form: formWord, fate: decides},

	// Where to, and how there.
	{name: "HostName", form: formWord, fate: decides},
	{name: "User", form: formWord, fate: decides},
	{name: "Port", form: formPort, fate: decides},
	{name: "AddressFamily", form: formChoice, fate: decides, values: "any inet inet6"},
	{name: "BindAddress", form: formWord, fate: decides},
	{name: "ProxyJump", form: formJump, fate: decides},
	{name: "ProxyCommand", form: formRest, fate: decides},
	{name: "ProxyUseFdpass", form: formFlag, fate: decides},
	{name: "ConnectTimeout", form: formTime, fate: tunes},
	{name: "ConnectionAttempts", form: formCount, fate: tunes},
	{name: "ServerAliveInterval", form: formTime, fate: tunes},
	{name: "ServerAliveCountMax", form: formCount, fate: tunes},

	// Who the host is.
	{name: "HostKeyAlias", form: formWord, fate: decides},
	{name: "HostKeyAlgorithms", form: formAlgos, fate: decides},
	{name: "StrictHostKeyChecking", form: formChoice, fate: decides, values: yesNo + " ask off accept-new"},
	{name: "UserKnownHostsFile", form: formFiles, fate: decides},
	{name: "GlobalKnownHostsFile", form: formFiles, fate: decides},
	{name: "RevokedHostKeys", form: formWord, fate: decides},
	{name: "HashKnownHosts", form: formFlag, fate: tunes},

	// Who we are.
	{name: "IdentityFile", form: formWord, fate: decides},
	{name: "CertificateFile", form: formWord, fate: decides},
	{name: "IdentitiesOnly", form: formFlag, fate: decides},
	{name: "IdentityAgent", form: formAgent, fate: decides},
	{name: "PreferredAuthentications", form: formWord, fate: decides},
	// unbound and host-bound are of ssh-agent's destination constraints; the
	// login is the same.
	{name: "PubkeyAuthentication", form: formChoice, fate: decides, values: yesNo + " unbound host-bound"},
	{name: "PubkeyAcceptedAlgorithms", form: formAlgos, fate: decides},
	{name: "PasswordAuthentication", form: formFlag, fate: decides},
	{name: "KbdInteractiveAuthentication", form: formFlag, fate: decides},
	{name: "BatchMode", form: formFlag, fate: decides},
	{name: "NumberOfPasswordPrompts", form: formCount, fate: tunes},

	// What the connection is made of, and what goes with it.
	{name: "KexAlgorithms", form: formAlgos, fate: decides},
	{name: "Ciphers", form: formAlgos, fate: decides},
	{name: "MACs", form: formAlgos, fate: decides},
	{name: "ForwardAgent", form: formAgent, fate: decides},
	{name: "SendEnv", form: formNames, fate: tunes},
	{name: "SetEnv", form: formPairs, fate: tunes},

	// Taken, and nothing to do: a script runs without a terminal and Attach
	// with one, whatever RequestTTY says, and there is no log for LogLevel.
	{name: "RequestTTY", form: formChoice, fate: harmless, values: yesNo + " force auto"},
	{name: "LogLevel", form: formChoice, fate: harmless, values: "silent quiet fatal error info verbose debug debug1 debug2 debug3"},
	{name: "LogVerbose", form: formWords, fate: harmless},
	{name: "SyslogFacility", form: formWord, fate: harmless},
	{name: "StdinNull", form: formFlag, fate: harmless},
	{name: "ForkAfterAuthentication", form: formFlag, fate: harmless},
	{name: "EscapeChar", form: formWord, fate: harmless},
	{name: "EnableEscapeCommandline", form: formFlag, fate: harmless},
	// How something looks, is marked on the wire, or is introduced.
	{name: "VisualHostKey", form: formFlag, fate: harmless},
	{name: "FingerprintHash", form: formWord, fate: harmless},
	{name: "IPQoS", form: formLoose, fate: harmless},
	{name: "TCPKeepAlive", form: formFlag, fate: harmless},
	{name: "VersionAddendum", form: formRest, fate: harmless},
	{name: "WarnWeakCrypto", form: formLoose, fate: harmless},
	// Hides the rhythm of keys from the network; everybody has it on.
	{name: "ObscureKeystrokeTiming", form: formLoose, fate: harmless},
	// A server's further names or keys are neither looked up nor recorded;
	// that makes fewer hosts known, never more.
	{name: "CheckHostIP", form: formFlag, fate: harmless},
	{name: "UpdateHostKeys", form: formChoice, fate: harmless, values: yesNo + " ask"},
	// These only tune others, which are named when they are used.
	{name: "ControlPersist", form: formLoose, fate: harmless},
	{name: "ExitOnForwardFailure", form: formFlag, fate: harmless},
	{name: "ClearAllForwardings", form: formFlag, fate: harmless},
	{name: "GatewayPorts", form: formFlag, fate: harmless},
	{name: "PermitRemoteOpen", form: formLoose, fate: harmless},
	{name: "StreamLocalBindMask", form: formLoose, fate: harmless},
	{name: "StreamLocalBindUnlink", form: formFlag, fate: harmless},
	{name: "TunnelDevice", form: formLoose, fate: harmless},
	{name: "ForwardX11Timeout", form: formTime, fate: harmless},
	{name: "ForwardX11Trusted", form: formFlag, fate: harmless},
	{name: "XAuthLocation", form: formWord, fate: harmless},
	{name: "EnableSSHKeysign", form: formFlag, fate: harmless},
	{name: "HostbasedAcceptedAlgorithms", form: formAlgos, fate: harmless},
	{name: "KbdInteractiveDevices", form: formWord, fate: harmless},
	{name: "LocalCommand", form: formRest, fate: harmless},
	{name: "GSSAPIClientIdentity", form: formLoose, fate: harmless},
	{name: "GSSAPIServerIdentity", form: formLoose, fate: harmless},
	{name: "GSSAPIKexAlgorithms", form: formLoose, fate: harmless},
	{name: "GSSAPIRenewalForcesRekey", form: formFlag, fate: harmless},
	{name: "GSSAPITrustDns", form: formFlag, fate: harmless},

	// Not done here.
	{name: "AddKeysToAgent", form: formLoose, fate: named, idle: "no|false"},
	{name: "BindInterface", form: formWord, fate: named},
	{name: "CASignatureAlgorithms", form: formAlgos, fate: named}, // see restrictsCA
	{name: "ChannelTimeout", form: formLoose, fate: named, idle: "none"},
	{name: "Compression", form: formFlag, fate: named, idle: "no"},
	{name: "ControlMaster", form: formChoice, fate: named, values: yesNo + " auto ask autoask", idle: "no|false"},
	{name: "ControlPath", form: formWord, fate: named, idle: "none"},
	{name: "DynamicForward", form: formLoose, fate: named},
	{name: "ForwardX11", form: formFlag, fate: named, idle: "no"},
	{name: "GSSAPIAuthentication", form: formFlag, fate: named, idle: "no"}, // see hasTicket
	{name: "GSSAPIDelegateCredentials", form: formFlag, fate: named, idle: "no"},
	{name: "GSSAPIKeyExchange", form: formFlag, fate: named, idle: "no"},
	{name: "HostbasedAuthentication", form: formFlag, fate: named, idle: "no"},
	{name: "KnownHostsCommand", form: formRest, fate: named, idle: "none"},
	{name: "LocalForward", form: formLoose, fate: named},
	{name: "NoHostAuthenticationForLocalhost", form: formFlag, fate: named, idle: "no"},
	{name: "PermitLocalCommand", form: formFlag, fate: named, idle: "no"}, // where there is a LocalCommand
	{name: "PKCS11Provider", form: formWord, fate: named, idle: "none"},
	// The library keys anew after 1 GiB, whatever this says.
	{name: "RekeyLimit", form: formLoose, fate: named, idle: "0 0|default none|default 0"},
	{name: "RemoteCommand", form: formRest, fate: named, idle: "none"},
	{name: "RemoteForward", form: formLoose, fate: named},
	// Up to 2048 bits is what some distributions set for everybody.
	{name: "RequiredRSASize", form: formCount, fate: named, idle: "1024|2048"},
	{name: "SecurityKeyProvider", form: formWord, fate: named, idle: "internal|$SSH_SK_PROVIDER"},
	{name: "SessionType", form: formChoice, fate: named, values: "none subsystem default", idle: "default"},
	{name: "Tunnel", form: formChoice, fate: named, values: yesNo + " ethernet point-to-point", idle: "no|false"},
	{name: "UseKeychain", form: formFlag, fate: named, idle: "no"},
	{name: "VerifyHostKeyDNS", form: formChoice, fate: named, values: yesNo + " ask", idle: "no|false"},
}

// keywordAliases are other spellings; those that mean nothing to any OpenSSH
// that still runs have no keyword.
var keywordAliases = map[string]string{
	"challengeresponseauthentication": "kbdinteractiveauthentication",
	"skeyauthentication":              "kbdinteractiveauthentication",
	"tisauthentication":               "kbdinteractiveauthentication",
	"dsaauthentication":               "pubkeyauthentication",
	"identityfile2":                   "identityfile",
	"pubkeyacceptedkeytypes":          "pubkeyacceptedalgorithms",
	"hostbasedkeytypes":               "hostbasedacceptedalgorithms",
	"keepalive":                       "tcpkeepalive",
	"smartcarddevice":                 "pkcs11provider",
	"afstokenpassing":                 "", "cipher": "", "compressionlevel": "", "fallbacktorsh": "",
	"globalknownhostsfile2": "", "kerberosauthentication": "", "kerberostgtpassing": "",
	"protocol": "", "protocolkeepalives": "", "rhostsauthentication": "", "rhostsrsaauthentication": "",
	"rsaauthentication": "", "setuptimeout": "", "useblacklistedkeys": "", "useprivilegedport": "",
	"useroaming": "", "usersh": "", "userknownhostsfile2": "",
}

// byKeyword finds a keyword by its lower-case name.
var byKeyword = func() map[string]*keyword {
	m := map[string]*keyword{}
	for i := range keywords {
		m[strings.ToLower(keywords[i].name)] = &keywords[i]
	}
	return m
}()
