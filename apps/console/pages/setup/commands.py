"""The commands that bring an agent to a node, as pages tell them."""

import json
import shlex

CHECK = "runrate-agent check"
RUN = "runrate-agent run"
SERVICE = (
    "runrate-agent file runrate-agent.service > /etc/systemd/system/runrate-agent.service && "
    "systemctl daemon-reload && systemctl enable --now runrate-agent"
)
"""Has systemd run it, as a user of its own."""
CONFIG = "/etc/runrate/agent.toml"
TOKEN = "/etc/runrate/agent.token"  # noqa: S105 (a path)
JOIN_TOKEN = "/etc/runrate/join.token"  # noqa: S105 (a path)


def config_command(server: str) -> str:
    """Writes the one setting that an agent cannot do without; the rest have defaults."""
    return _written("[server]", f"url = {_toml(server)}")


def join_config_command(server: str, cluster: str) -> str:
    """Writes where the server is, where the join token lies, and the cluster whose jobs run."""
    return _written(
        "[server]",
        f"url = {_toml(server)}",
        f"join_token_file = {_toml(JOIN_TOKEN)}",
        "[holders]",
        f"cluster = {_toml(cluster)}",
    )


def token_command(secret: str, path: str) -> str:
    """Keeps a token in a file that only whoever runs it can read."""
    return f"(umask 077; printf '%s\\n' {secret} > {path})"


def simulate_command(server: str) -> str:
    """Plays a day of one node; the file holds the token of its agent."""
    return f"runrate-agent simulate one-node --server {server} --token-file token"


def _written(*lines: str) -> str:
    return f"mkdir -p /etc/runrate && printf '%s\\n' {shlex.join(lines)} > {CONFIG}"


def _toml(text: str) -> str:
    """A basic string of TOML, which escapes as JSON does."""
    return json.dumps(text, ensure_ascii=False)
