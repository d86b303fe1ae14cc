"""What of an installation lies beside its database: settings, secrets, and files under RUNRATE_HOME."""

import hmac
import json
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

from apps.files import is_stored, list_files
from controlplane.copies.contents import WantedFiles
from controlplane.env import Environment
from controlplane.env_values import written

SECRET_SETTINGS = frozenset(
    {
        *("secret_key", "old_secret_keys", "database_url", "broker_url", "oidc_client_secret"),
        "mail_url",
    }
)
"""Settings that hold a password or a key; they are in the file of secrets alone."""

OF_THE_MACHINE = frozenset({"home", "database_url", "broker_url", "listen", "debug"})
"""Settings that say where an installation runs, not what it is: another machine has its own."""

ABOUT_SECRETS = (
    "The secrets of a Runrate installation. Whoever reads this file can sign in as anybody and read second factors. "
    "Keep it apart from the copy, where few can read it."
)


def settings_to_keep(chosen: Environment) -> dict[str, str]:
    """Return the settings that differ from their defaults and are no secrets, by variable."""
    return {
        f"RUNRATE_{each.name.upper()}": written(getattr(chosen, each.name))
        for each in fields(chosen)
        if each.name not in SECRET_SETTINGS | OF_THE_MACHINE
        and getattr(chosen, each.name) != each.default
    }


def secrets_to_keep(chosen: Environment, secret_key: str) -> dict[str, str]:
    """Return the secrets that are set, and the key that signs and seals, by variable."""
    named = {
        f"RUNRATE_{name.upper()}": written(getattr(chosen, name))
        for name in sorted(SECRET_SETTINGS - OF_THE_MACHINE)
        if getattr(chosen, name)
    }
    return {**named, "RUNRATE_SECRET_KEY": secret_key}


def mark_of_key(secret_key: str) -> str:
    """Return by what a key is recognised without being told."""
    return hmac.digest(secret_key.encode(), b"runrate copy", "sha256").hex()[:16]


def write_secrets(path: Path, copy_id: str, secrets: dict[str, str]) -> None:
    """Write the secrets to a file that its owner alone may read; at once, or not at all."""
    draft = path.with_name(f".{path.name}.part")
    draft.unlink(missing_ok=True)
    content = {"about": ABOUT_SECRETS, "copy": copy_id, "secrets": secrets}
    with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(json.dumps(content, indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def read_secrets(path: Path) -> dict[str, Any]:
    """Return what a file of secrets holds; refuses ValueError, OSError."""
    content = json.loads(path.read_text())
    if not isinstance(content, dict) or not isinstance(content.get("secrets"), dict):
        raise ValueError("it is no file of secrets")
    return content


def wanted_names(wanted: WantedFiles) -> tuple[list[str], list[str]]:
    """Return the stored files that rows name, and those among them that are not there."""
    exports = [
        entry.name
        for entry in list_files("exports")
        if _export_number(entry.name) in wanted.exports
    ]
    uploads = [f"uploads/{name}" for name in sorted(wanted.uploads)]
    missing = [name for name in uploads if not is_stored(name)]
    return [name for name in uploads if name not in missing] + exports, missing


def _export_number(name: str) -> int | None:
    number = name.rpartition("/")[2].partition(".")[0]
    return int(number) if number.isdigit() else None
