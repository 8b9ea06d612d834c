package transport

// lines makes cases of single lines.
func lines(texts ...string) []configCase {
	var out []configCase
	for _, s := range texts {
		out = append(out, configCase{name: s, text: s + "\n"})
	}
	return out
}

// lineCases are about how a line is taken apart.
var lineCases = lines(
	"", "# User me", "#User me", " # User me", "\t", "User me", "USER me", " \t User\tme \t", "User=me", "User = me",
	"User==me", "User= =me", "=User me", `User "me"`, `User "a b"`, `"User" me`, `"User"me`, `Us"er" me`, `User "me`,
	`User me"`, "User 'me'", "User 'a\"b'", `User "a'b"`, `User a\ b`, `User "a\"b"`, `User a\\b`, `User a\nb`, `User me\`, "User me#x",
	"User me #x", "User #x", `User "me" # x`, `User "me"#x`, `User "a#b"`, "User me=x", "User", "User ", `User ""`, "User a b",
	"User me\r", "User me\f", "User\fme", "\f", "User\u00a0me", "User mé", "NoSuchKeyword x", "NoSuchKeyword",
	"IgnoreUnknown No*\nNoSuchKeyword x\nUser me", "NoSuchKeyword x\nIgnoreUnknown No*", "IgnoreUnknown nosuchkeyword,x\nHost x\nNoSuchKeyword a b # c",
	"IgnoreUnknown No*\nNoSuchKeyword \"x", "Host x\nIgnoreUnknown No*\nHost *\nNoSuchKeyword 1",
	"Protocol 2", "Cipher x", "UseRoaming no\nUser me", "KeepAlive no", "User me\nUser you", "Port 1\n\n\nPort 2",
)

// keywordCases are about each keyword that is acted on, and some of the others.
var keywordCases = lines(
	"Port 2222", "Port ssh", "Port frog", "Port 0", "Port 65536", "Port 0x16", "Port 022", "Port +22", "Port 22 ", "Host x\nPort frog",
	"HostName example.org", "HostName %h.example.org", "HostName %%h", "HostName %n", "HostName %", "HostName EXAMPLE.Org", "HostName FE80::1",
	"HostName 10.0.0.1", "HostName ::1", "HostName a b",
	"AddressFamily INET6", "AddressFamily inet", "AddressFamily any", "AddressFamily x", "BindAddress ::1", "BindAddress a b",
	"ConnectTimeout 7", "ConnectTimeout 1m", "ConnectTimeout 1h1M2", "ConnectTimeout none", "ConnectTimeout 0", "ConnectTimeout -1",
	"ConnectTimeout 1x", "ConnectTimeout 99999999999", "ConnectTimeout 1d", "ServerAliveInterval 1m", "ServerAliveInterval none",
	"ServerAliveCountMax 5", "ServerAliveCountMax 0", "ServerAliveCountMax -1", "ServerAliveCountMax 1m", "ConnectionAttempts 3", "ConnectionAttempts 0",
	"NumberOfPasswordPrompts 1", "NumberOfPasswordPrompts x", "BatchMode YES", "BatchMode true", "BatchMode 1",
	"PasswordAuthentication no", "KbdInteractiveAuthentication no", "ChallengeResponseAuthentication no", "SkeyAuthentication no",
	"PubkeyAuthentication no", "PubkeyAuthentication unbound", "PubkeyAuthentication host-bound", "PubkeyAuthentication x", "DSAAuthentication no",
	"PreferredAuthentications password,publickey", "PreferredAuthentications bogus", "PreferredAuthentications a b",
	"IdentityFile ~/a", "IdentityFile ~/a\nIdentityFile /b\nIdentityFile ~/a", "IdentityFile none", "IdentityFile2 /x", "IdentityFile /a /b",
	"User u\nIdentityFile ~/%r@%h:%p%%-%n-%u-%i-%d-%l-%L-%k", "IdentityFile ${FLEET_TEST_DIR}/id", "IdentityFile ${FLEET_TEST_NONE}/id", "IdentityFile /%Z",
	"IdentityFile ~root/x", `IdentityFile "/a b"`, "IdentityFile /%C", "HostKeyAlias k\nIdentityFile /%k", "IdentityFile /a%", "IdentityFile ~/.ssh/id_rsa",
	"CertificateFile ~/c\nCertificateFile /d", "CertificateFile /%Z", "CertificateFile none", "IdentitiesOnly true", "IdentitiesOnly maybe",
	"IdentityAgent none", "IdentityAgent ~/agent", "IdentityAgent $FLEET_TEST_DIR", "IdentityAgent ${FLEET_TEST_DIR}/s", "IdentityAgent SSH_AUTH_SOCK",
	"IdentityAgent $", "IdentityAgent $FLEET_TEST_NONE", "Host x\nIdentityAgent ${FLEET_TEST_NONE}", "IdentityAgent /%h/%p",
	"ForwardAgent yes", "ForwardAgent NO", "ForwardAgent ~/agent", "ForwardAgent $FLEET_TEST_DIR", "ForwardAgent $FLEET_TEST_NONE", "ForwardAgent ${FLEET_TEST_DIR}/s",
	"ForwardAgent yes\nIdentityAgent /a", "ForwardAgent yes\nIdentityAgent none", "ForwardAgent yes\nForwardAgent no", "ForwardAgent no\nForwardAgent /a", "Host x\nForwardAgent no\nHost *\nForwardAgent /a", "ForwardAgent yes\nForwardAgent $FLEET_TEST_DIR", "ForwardAgent a b",
	"HostKeyAlias other", "HostKeyAlias %h", "StrictHostKeyChecking yes", "StrictHostKeyChecking TRUE", "StrictHostKeyChecking off",
	"StrictHostKeyChecking accept-new", "StrictHostKeyChecking Ask", "StrictHostKeyChecking x", "HashKnownHosts yes",
	"UserKnownHostsFile /a ~/b", "UserKnownHostsFile none", `UserKnownHostsFile "/a b" /c "~/d e"`, `GlobalKnownHostsFile "/a b" /c`, "UserKnownHostsFile none /a", "UserKnownHostsFile /%h-%n ${FLEET_TEST_DIR}/k", "UserKnownHostsFile /%Z",
	"UserKnownHostsFile /a\nUserKnownHostsFile /b", "GlobalKnownHostsFile /a /b", "GlobalKnownHostsFile none", "GlobalKnownHostsFile ~/a /%h",
	"RevokedHostKeys /r", "RevokedHostKeys ~/r", "RevokedHostKeys none", "RevokedHostKeys /%h",
	"ProxyJump hop", "ProxyJump me@hop:2222,far", "ProxyJump none", "ProxyJump NONE\nProxyJump b", "ProxyJump hop # c", "ProxyJump hop#c", "ProxyJump hop , a",
	"ProxyJump = a,b", "ProxyJump a,none", "ProxyJump ssh://u@h:22", "ProxyJump ssh://u@h,b", "ProxyJump 10.0.0.1:23", "ProxyJump u@[::1]:5,[::2]", "ProxyJump 2001:db8::1",
	"ProxyJump u@h:22,", "ProxyJump u@h:x", "ProxyJump @h", "ProxyJump [::1", "Host x\nProxyJump u@h:x", "ProxyJump HOP", "User u\nProxyJump %r@j-%h:22,%n", "ProxyJump j-%z", `ProxyJump "hop"`,
	"ProxyJump box", "ProxyJump x@box", "User x\nPort 23\nProxyJump x@box:23", "HostName web\nProxyJump box", "HostName web\nProxyJump web",
	"ProxyJump a\nProxyCommand x", "ProxyCommand x y\nProxyJump a", "ProxyCommand none\nProxyJump a", "ProxyJump none\nProxyJump a\nProxyCommand y",
	"ProxyJump none # c\nProxyCommand y", "ProxyJump none\nProxyCommand y\nProxyCommand z", "ConnectTimeout none\nConnectTimeout 5", "ServerAliveInterval none\nServerAliveInterval 5",
	"ConnectTimeout 0\nConnectTimeout 5", "ProxyCommand sh -c 'x #y' # z", `ProxyCommand "a b" c`, "ProxyCommand = x = y", "ProxyCommand it's", "ProxyCommand", "ProxyCommand nc -x p:1 %h %p",
	"ProxyCommand a%%b \"\\\"c\"", "ProxyCommand x\nProxyUseFdpass yes", "ProxyUseFdpass yes",
	"KexAlgorithms +diffie-hellman-group1-sha1", "KexAlgorithms ^ecdh-sha2-nistp256,curve25519-sha256", "KexAlgorithms -ecdh*,*sha1", "KexAlgorithms -*",
	"KexAlgorithms sntrup761x25519-sha512@openssh.com", "KexAlgorithms ecdh-sha2-nistp384,sntrup761x25519-sha512@openssh.com",
	"Ciphers +aes128-cbc", "Ciphers -aes*", "Ciphers ^aes256-ctr", "Ciphers aes128-ctr,aes256-ctr", "Ciphers aes128-ctr\nCiphers aes256-ctr",
	"Ciphers aes192-cbc", "MACs umac-64@openssh.com", "MACs umac-64@openssh.com\nCiphers aes128-ctr", "MACs +hmac-sha1-96", "MACs -hmac-sha1*",
	"HostKeyAlgorithms +ssh-rsa", "HostKeyAlgorithms ^rsa-*", "HostKeyAlgorithms rsa-*,ssh-ed25519", "HostKeyAlgorithms -ssh-ed25519*", `HostKeyAlgorithms ""`,
	"HostKeyAlgorithms ssh-dss", "PubkeyAcceptedAlgorithms +ssh-rsa,ssh-dss", "PubkeyAcceptedKeyTypes ssh-ed25519", "PubkeyAcceptedAlgorithms sk-*",
	"SendEnv A B*\nSendEnv C D\nSendEnv -B* -C", "SendEnv A=b", "SendEnv -A\nSendEnv A A", "SetEnv A=1 B=2 A=3\nSetEnv C=3", `SetEnv A="b c" D=`, "SetEnv A",
	"SetEnv A=\"x#y\" # z", "CanonicalizeHostname no", "IgnoreUnknown a b",
	"Compression yes\nControlMaster auto\nControlPath /tmp/x\nForwardX11 yes\nRemoteCommand top # x\nLocalForward 1 h:2\nHostbasedAuthentication yes",
	"KnownHostsCommand /bin/x %h\nVerifyHostKeyDNS ask\nPKCS11Provider /x\nTunnel yes\nBindInterface lo\nSessionType none\nRekeyLimit 1G 1h",
	"LocalCommand x\nPermitLocalCommand yes", "LocalCommand x", "PermitLocalCommand yes", "AddKeysToAgent yes\nNoHostAuthenticationForLocalhost yes\nRequiredRSASize 4096",
	"CASignatureAlgorithms ssh-ed25519", "CASignatureAlgorithms +ssh-rsa", "GSSAPIDelegateCredentials yes", "Compression no\nControlMaster no\nTunnel no\nVerifyHostKeyDNS no",
	"LogLevel QUIET\nRequestTTY force\nEscapeChar none\nIPQoS none\nControlPersist 10m", "LogLevel x", "ControlMaster x", "Compression maybe", "UpdateHostKeys ask", "DynamicForward 1080",
)

// hostCases are about Host lines; keyed ones name the destination.
var hostCases = append(lines(
	"Host box\nUser u", "Host other\nUser u", "Host BOX\nUser u", "Host=box\nUser u", "Host = box\nUser u", "Host a\tbox\nUser u", `Host "a" box`+"\nUser u",
	`Host "box"`+"\nUser u", "Host 'box'\nUser u", `Host "a box"`+"\nUser u", "Host a,box\nUser u", "Host a # box\nUser u", "Host box # a\nUser u", "Host b*\nUser u",
	"Host bo?\nUser u", "Host box?\nUser u", "Host ??x\nUser u", "Host b**x*\nUser u", "Host !box *\nUser u", "Host * !box\nUser u", "Host !a\nUser u", "Host ! box\nUser u",
	"Host !b* box\nUser u", "Host", `Host ""`+"\nUser u", "Host \"box\nUser u", "Host b[o]x\nUser u", "Host x\nHost\nUser u", "Host box\nUser u\nHost *\nUser v\nPort 2",
	"User before\nHost box\nUser u", "hOsT box\nUser u", "Host #\nUser u", "Host a\\ b box\nUser u",
), []configCase{
	{name: "alias in capitals", text: "Host box\nUser u\nHost BOX\nPort 3\n", dest: "BOX"},
	{name: "an address", text: "Host ::1\nUser u\n", dest: "[::1]:2222"},
	{name: "an address in capitals", text: "Host FE80::1\nUser u\n", dest: "FE80::1"},
	{name: "the destination goes first", text: "Host box\nUser me\nPort 2222\n", dest: "you@box:23"},
	{name: "a user with an at sign", text: "Host box\nPort 5\n", dest: "me@example.org@box"},
	{name: "HostName does not make another Host line match", text: "Host box\nHostName example.org\nHost example.org\nUser u\n"},
	{name: "a long name against stars", text: "Host *a*a*a*a*a*a*b\nUser u\n", dest: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
}...)
