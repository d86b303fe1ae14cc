"""The commands that bring an agent to a node, as the first day tells them."""

CHECK = "runrate-agent check"
RUN = "runrate-agent run"
CONFIG = "/etc/runrate/agent.toml"
TOKEN = "/etc/runrate/agent.token"  # noqa: S105 (a path)


def config_command(server: str) -> str:
    """Writes the one setting that an agent cannot do without; the rest have defaults."""
    told = f'[server]\\nurl = "{server}"\\n'
    return f"mkdir -p /etc/runrate && printf '{told}' > {CONFIG}"


def token_command(secret: str, path: str) -> str:
    """Keeps a token in a file that only whoever runs it can read."""
    return f"(umask 077; printf '%s\\n' {secret} > {path})"


def simulate_command(server: str) -> str:
    """Plays a day of one node; the file holds the token of its agent."""
    return f"runrate-agent simulate one-node --server {server} --token-file token"
