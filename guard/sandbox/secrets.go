package sandbox

// homeSecrets are the paths in a home directory that no job sees: keys, tokens, browser profiles, histories, and the
// sockets of agents and containers.
var homeSecrets = [...]string{
	".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".kube", ".docker/config.json", ".netrc", ".git-credentials",
	".config/git/credentials", ".config/gh", ".config/hub", ".config/glab-cli", ".npmrc", ".yarnrc.yml", ".pypirc",
	".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties",
	".config/containers/auth.json", ".config/rclone", ".config/doctl", ".config/op", ".config/sops", ".config/age",
	".terraform.d", ".vault-token", ".pgpass", ".my.cnf", ".s3cfg", ".boto", ".password-store", ".local/share/keyrings",
	".pki", ".1password", ".docker/run", ".docker/desktop", ".colima", ".orbstack", ".rd", ".lima",
	".claude", ".claude.json", ".codex", ".gemini", ".config/opencode", ".local/share/opencode", ".config/github-copilot",
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
	".config/microsoft-edge", ".config/vivaldi", ".config/opera", ".var/app", "snap",
	".bash_history", ".zsh_history", ".local/share/fish", ".histfile", ".python_history", ".node_repl_history",
	".psql_history", ".mysql_history", ".sqlite_history", ".rediscli_history", ".lesshst", ".viminfo",
}

// systemSecrets are the paths outside a home that no job sees.
var systemSecrets = [...]string{
	"/run", "/var/run", "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d",
	"/etc/ssh", "/etc/krb5.keytab", "/var/spool/cron", "/var/lib/docker", "/var/lib/containerd", "/lost+found",
}
