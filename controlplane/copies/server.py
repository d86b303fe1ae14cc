"""The Postgres that a copy is made of or brought back to, and the program that writes its schema."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from controlplane.copies.refusal import CopyRefused
from controlplane.postgres_programs import binaries

OLDEST_MAJOR = 15
ELSEWHERE = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin")
"""Where Debian, Red Hat and those who build it themselves have Postgres's programs."""
UNFIT = ("SSL support is not compiled in", "syntax error in service file")
"""What a program says that speaks no TLS, or that knows one of the connection's settings not yet."""
# What libpq fills in by itself, and an older one does not know.
OF_LIBPQ = {b"sslcertmode": b"allow"}
# What names another place to look into, which has been looked into.
OF_SERVICES = frozenset({"service", "servicefile"})


@dataclass(frozen=True, slots=True)
class Server:
    """How a database is reached, as libpq names it."""

    parameters: Mapping[str, str]

    @classmethod
    def of_settings(cls, chosen: Mapping[str, Any]) -> "Server":
        """Return the server of one of Django's DATABASES."""
        named = {
            "dbname": chosen["NAME"],
            "user": chosen["USER"],
            "password": chosen["PASSWORD"],
            "host": chosen["HOST"],
            "port": chosen["PORT"],
        }
        options = {key: str(value) for key, value in chosen.get("OPTIONS", {}).items()}
        return cls({key: str(value) for key, value in named.items() if value} | options)

    def connect(self) -> psycopg.Connection[Any]:
        """Return a connection in autocommit mode, whose statements last as long as a large table takes."""
        # Rows are written as the server sends them, and read as UTF-8 where they are brought back.
        named = {**self.parameters, "client_encoding": "UTF8"}
        connected = psycopg.connect(make_conninfo(**named), autocommit=True)
        connected.execute("SET statement_timeout = 0")
        return connected


def schema_statements(
    reading: psycopg.Connection[Any],
    section: str,
    snapshot: str,
    elsewhere: Sequence[str] = ELSEWHERE,
) -> str:
    """Return the statements that make one section of the schema, as a snapshot of this connection has it.

    Postgres's own program asks the same server in the same way, encrypted where the connection is. `elsewhere` are
    patterns of folders with programs of this machine. Refuses CopyRefused where none can.
    """
    major = reading.info.server_version // 10_000
    is_encrypted = bool(reading.pgconn.ssl_in_use)
    options = [
        *(f"--section={section}", f"--snapshot={snapshot}", "--schema=public", "--no-owner"),
        *("--no-privileges", "--no-tablespaces", "--no-publications", "--no-subscriptions"),
        *("--no-security-labels", "--no-password", "--encoding=UTF8", "--dbname=service=runrate"),
    ]
    tried = ""
    with _service_of(reading, is_encrypted=is_encrypted) as environment:
        for program in _dump_programs(major, elsewhere, is_encrypted=is_encrypted):
            ran = subprocess.run(  # noqa: S603  # a program of Postgres
                [str(program), *options],
                capture_output=True,
                encoding="utf-8",
                check=False,
                env=environment,
            )
            if not ran.returncode:
                return plain_statements(ran.stdout)
            if not any(words in ran.stderr for words in UNFIT):
                raise CopyRefused(f"the schema could not be read: {ran.stderr.strip()}")
            tried += f"; {program} does not do: {ran.stderr.strip()}"
    raise CopyRefused(_lacking_program(major, is_encrypted=is_encrypted) + tried)


def _dump_programs(major: int, elsewhere: Sequence[str], *, is_encrypted: bool) -> Iterator[Path]:
    """Yield programs that know this server, the one that comes with Runrate first; that one speaks no TLS."""
    on_path = shutil.which("pg_dump")
    of_machine = [Path(on_path)] if on_path else []
    for pattern in elsewhere:
        of_machine += sorted(Path("/").glob(f"{pattern.lstrip('/')}/pg_dump"))
    # What is of the server's own version writes what the server knows.
    fitting = sorted(of_machine, key=_major_of)
    for program in (*([] if is_encrypted else [binaries() / "pg_dump"]), *fitting):
        if _major_of(program) >= major:
            yield program


def _lacking_program(major: int, *, is_encrypted: bool) -> str:
    why = (
        "the connection to the database is encrypted, and the pg_dump that comes with Runrate speaks no TLS"
        if is_encrypted
        else f"the server is Postgres {major}, which is newer than the pg_dump that comes with Runrate"
    )
    return (
        f"{why}: install the client programs of Postgres {major} or newer where this command runs "
        f"(Debian: apt install postgresql-client; a package postgresql-client-{major} or newer where that one is older), on the PATH or in {ELSEWHERE[0]}"
    )


@contextmanager
def _service_of(
    reading: psycopg.Connection[Any], *, is_encrypted: bool
) -> Iterator[dict[str, str]]:
    """Yield an environment whose service `runrate` is this connection, wherever its settings came from.

    Other processes of the machine see neither a password nor another secret of it.
    """
    chosen = {
        option.keyword.decode(): option.val.decode()
        for option in reading.pgconn.info
        if option.val is not None
        and option.val not in {option.compiled, OF_LIBPQ.get(option.keyword)}
    }
    password = chosen.pop("password", None)
    if not is_encrypted:
        # A program without TLS refuses what asks for it, though it is not used on a socket.
        chosen["sslmode"] = "disable"
        chosen.pop("sslnegotiation", None)
    elif chosen.get("sslmode", "prefer") in {"prefer", "allow"}:
        chosen["sslmode"] = "require"
    lines = [f"{key}={value}\n" for key, value in chosen.items() if key not in OF_SERVICES]
    with tempfile.TemporaryDirectory(prefix="runrate-") as folder:
        path = Path(folder) / "pg_service.conf"
        path.touch(mode=0o600)
        path.write_text("[runrate]\n" + "".join(lines))
        # What is not in the file is as libpq has it by itself, in that connection too: an address may have said so against
        # a variable of the shell, which would say otherwise here. Messages in English: one of them is looked for.
        yield {
            **{name: text for name, text in os.environ.items() if not name.startswith("PG")},
            **({"PGPASSWORD": password} if password else {}),
            "PGSERVICEFILE": str(path),
            "LC_ALL": "C",
        }


def plain_statements(dumped: str) -> str:
    """Return what pg_dump wrote without what is for psql, its session's settings and the schema `public` itself."""
    _, begins, body = dumped.partition("\n--\n-- Name:")
    text = f"--\n-- Name:{body}" if begins else ""
    text = re.sub(r"^\\(un)?restrict .*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^CREATE SCHEMA public;$", "", text, flags=re.MULTILINE)
    return re.sub(r"^COMMENT ON SCHEMA public IS .*;$", "", text, flags=re.MULTILINE)


def _major_of(program: Path) -> int:
    answered = subprocess.run(  # noqa: S603  # a program of Postgres
        [str(program), "--version"], capture_output=True, text=True, check=False
    ).stdout
    number = re.search(r"\) (\d+)", answered)
    return int(number[1]) if number else 0
