"""The Postgres that a copy is made of or brought back to, and the program that writes its schema."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from controlplane.copies.refusal import CopyRefused
from controlplane.postgres_programs import binaries

OLDEST_MAJOR = 15
NEEDS_TLS = frozenset({"require", "verify-ca", "verify-full"})
ELSEWHERE = Path("/usr/lib/postgresql")


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

    def schema(self, section: str, snapshot: str, major: int) -> str:
        """Return the statements that make one section of the schema, as a snapshot has it.

        Refuses CopyRefused where Postgres's own program cannot.
        """
        named = {key: value for key, value in self.parameters.items() if key != "password"}
        command = [
            str(self._dump_program(major)), f"--section={section}", f"--snapshot={snapshot}",
            "--schema=public", "--no-owner", "--no-privileges", "--no-tablespaces",
            "--no-publications", "--no-subscriptions", "--no-security-labels", "--no-password",
            "--encoding=UTF8",
            f"--dbname={make_conninfo(**named)}",
        ]  # fmt: skip
        password = self.parameters.get("password")
        ran = subprocess.run(  # noqa: S603  # a program of Postgres
            command,
            capture_output=True,
            encoding="utf-8",
            check=False,
            env={**os.environ, **({"PGPASSWORD": password} if password else {})},
        )
        if ran.returncode:
            raise CopyRefused(f"the schema could not be read: {ran.stderr.strip()}")
        return plain_statements(ran.stdout)

    def _dump_program(self, major: int) -> Path:
        """The one that comes with the embedded Postgres; it speaks no TLS, so one of the machine's where that is asked for."""
        if self.parameters.get("sslmode") not in NEEDS_TLS:
            return binaries() / "pg_dump"
        beside = sorted(ELSEWHERE.glob("*/bin/pg_dump"))
        on_path = shutil.which("pg_dump")
        for found in (*map(Path, filter(None, [on_path])), *reversed(beside)):
            if _major_of(found) >= major:
                return found
        raise CopyRefused(
            f"sslmode={self.parameters['sslmode']} asks for TLS, which the pg_dump that comes with Runrate does not speak: "
            f"install the client programs of Postgres {major} or newer (Debian: postgresql-client)"
        )


def plain_statements(dumped: str) -> str:
    """Return what pg_dump wrote without what is for psql, its session's settings and the schema `public` itself."""
    _, begins, body = dumped.partition("\n--\n-- Name:")
    text = f"--\n-- Name:{body}" if begins else ""
    text = re.sub(r"^\\(un)?restrict .*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^CREATE SCHEMA public;$", "", text, flags=re.MULTILINE)
    return re.sub(r"^COMMENT ON SCHEMA public IS .*;$", "", text, flags=re.MULTILINE)


def _major_of(found: Path) -> int:
    said = subprocess.run(  # noqa: S603  # a program of Postgres
        [str(found), "--version"], capture_output=True, text=True, check=False
    ).stdout
    number = re.search(r"\) (\d+)", said)
    return int(number[1]) if number else 0
