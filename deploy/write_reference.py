"""The reference of settings and of commands, made of what the settings and the commands say of themselves."""

import json
import re
from argparse import Action, ArgumentParser, _AppendAction
from collections.abc import Iterator, Mapping
from dataclasses import Field, fields
from itertools import groupby
from pathlib import Path
from typing import Any

from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand

from controlplane.env import PREFIX, PROJECT_ROOT, Environment
from controlplane.env_values import written
from runrate_agent.settings import Settings as AgentSettings

SETTINGS = "Read from the environment, once. Any may be given as `NAME_FILE`, a path whose content is the value. A value of the wrong type, or an unknown `RUNRATE_` name, stops the process with a sentence that names it."  # fmt: skip
SECTIONS_OF_SETTINGS: Mapping[str, str] = {
    "home": "Database, broker and files",
    "secret_key": "Web server and secrets",
    "listen": "Processes and limits of time",
    "log_level": "Logs",
    "api_reads_per_minute": "Requests over REST",
    "oidc_issuer": "Sign-in",
    "tag_keys": "Costs and planning",
    "review_hour": "Weekly review",
    "agent_token_days": "Agents",
    "stale_price_days": "Retention and backups",
    "site_url": "Messages",
}
"""By the setting that a section begins with, in the order in which the settings are declared."""

COMMANDS = "`manage.py NAME --help` explains each option. What stands in brackets may be left out, what ends in … may be repeated. With `--json` the last line of the output is JSON."  # fmt: skip
SECTIONS_OF_COMMANDS: Mapping[str, str] = {
    "controlplane": "Installation and operation",
    "apps.accounts": "People and teams",
    "apps.fleet": "Clusters, nodes, clouds and tokens",
    "apps.workloads": "Jobs",
    "apps.pricing": "Prices, commitments and owned hardware",
    "apps.ledger": "Bills, the ledger and month close",
    "apps.planning": "Planning",
    "apps.placement": "Placement and schedulers",
    "apps.review": "Anomalies, recommendations and the weekly review",
}
"""By the app that has the commands; Django's own are not listed."""
MOST_CHOICES_SHOWN = 4

AGENT_SETTINGS = "Of `/etc/runrate/agent.toml` ([the agent](../guides/agent.md)); `runrate-agent settings` prints it with every key. What is not there has its default, an unknown key refuses the file by its line."  # fmt: skip

_PAGE = re.compile(r"docs/(?:reference/)?([\w/-]+\.md)")
_OPTION = re.compile(r"(?<![\w`-])--[a-z-]+")


def settings_page(note: str) -> str:
    """Return the page of all settings; refuses ValueError where a section begins with none."""
    settings = fields(Environment)
    unknown = SECTIONS_OF_SETTINGS.keys() - {setting.name for setting in settings}
    if unknown:
        raise ValueError(f"sections begin with settings that are not there: {sorted(unknown)}")
    parts = ["# Settings", note, SETTINGS]
    heading = ""
    rows: dict[str, list[str]] = {}
    for setting in settings:
        heading = SECTIONS_OF_SETTINGS.get(setting.name, heading)
        rows.setdefault(heading, []).append(_setting_row(setting))
    head = ("| variable | default | meaning |", "|---|---|---|")
    parts += (f"## {title}\n\n" + "\n".join((*head, *lines)) for title, lines in rows.items())
    return "\n\n".join(parts) + "\n"


def agent_settings_page(note: str) -> str:
    """Return the page of all keys of the agent's configuration."""
    defaults = AgentSettings()
    rows = [
        f"| `{table.name}.{key.name}` | {_toml_default(getattr(part, key.name))} | {key.metadata['said']} |"
        for table in fields(defaults)
        for part in (getattr(defaults, table.name),)
        for key in fields(part)
    ]
    table = "\n".join(("| key | default | meaning |", "|---|---|---|", *rows))
    return "\n\n".join(("# Settings of the agent", note, AGENT_SETTINGS, table)) + "\n"


def commands_page(note: str) -> str:
    """Return the page of all commands; refuses KeyError for an app that has no section."""
    apps = {name: app for name, app in get_commands().items() if not _is_djangos(app)}
    parts = ["# Commands", note, COMMANDS]
    order = list(SECTIONS_OF_COMMANDS)
    names = sorted(apps, key=lambda name: (order.index(apps[name]), name))
    for app, commands in groupby(names, key=apps.__getitem__):
        rows = [row for name in commands for row in _command_rows(app, name)]
        table = "\n".join(("| command | does |", "|---|---|", *rows))
        parts.append(f"## {SECTIONS_OF_COMMANDS[app]}\n\n{table}")
    return "\n\n".join(parts) + "\n"


def _setting_row(setting: Field[Any]) -> str:
    default = setting.default
    if isinstance(default, Path):
        default = default.relative_to(PROJECT_ROOT)
    text = written(default)
    shown = f"`{text}`" if text else "empty"
    return (
        f"| `{PREFIX}{setting.name.upper()}` | {shown} | {_marked(setting.metadata['meaning'])} |"
    )


def _toml_default(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else f"`{json.dumps(value)}`"


def _is_djangos(app: str) -> bool:
    return not app.startswith(("apps.", "controlplane"))


def _command_rows(app: str, name: str) -> Iterator[str]:
    """One row, or none for the former name of another command."""
    command = load_command_class(app, name)
    if command.__module__.rpartition(".")[2] != name:
        return
    synopsis = " ".join((name, *_arguments(command.create_parser("manage.py", name))))
    cell = synopsis.replace("|", r"\|")
    yield f"| `{cell}` | {_marked(command.help)} |"


def _arguments(parser: ArgumentParser) -> Iterator[str]:
    """Yield what a command takes beyond what each of Django's takes; what it cannot do without first."""
    common = {action.dest for action in BaseCommand().create_parser("manage.py", "")._actions}
    actions = [action for action in parser._actions if action.dest not in common]
    actions.sort(key=lambda action: (bool(action.option_strings), not action.required))
    yield from map(_argument, actions)


def _argument(action: Action) -> str:
    value = _value(action)
    if not action.option_strings:
        return f"[{value}]" if action.nargs in {"?", "*"} else value
    text = f"{action.option_strings[0]} {value}".rstrip()
    shown = text if action.required else f"[{text}]"
    return f"{shown}…" if isinstance(action, _AppendAction) else shown


def _value(action: Action) -> str:
    """Return the placeholder of an argument's value, or its choices where they are few."""
    if action.nargs == 0:
        return ""
    choices = [str(choice) for choice in action.choices or () if choice != ""]
    if 0 < len(choices) <= MOST_CHOICES_SHOWN:
        return "{" + ",".join(choices) + "}"
    name = action.option_strings[0].lstrip("-") if action.option_strings else action.dest
    metavar = action.metavar if isinstance(action.metavar, str) else name.replace("-", "_").upper()
    return f"{metavar}…" if action.nargs in {"+", "*"} else metavar


def _marked(text: str) -> str:
    """Return the text with the pages of docs/ that it names as links from docs/reference, and options as code."""
    return _OPTION.sub(r"`\g<0>`", _PAGE.sub(_link, text))


def _link(match: re.Match[str]) -> str:
    page = match.group(1)
    is_beside = match.group().startswith("docs/reference/")
    return f"[{page.rpartition('/')[2]}]({page if is_beside else f'../{page}'})"
