"""Copies of a server that takes encrypted connections alone, or whose settings come from where libpq looks for them."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from controlplane.copies.contents import begin_reading
from controlplane.copies.refusal import CopyRefused
from controlplane.copies.server import Server, schema_statements
from controlplane.settings import database_of
from tests.journeys.debians_postgres import debians_postgres
from tests.journeys.installations import FirstStart, manage

RECORDING = """#!/bin/sh
[ "$1" = --version ] || echo "$@" >> {record}
exec {program} "$@"
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A database with a table, of a server that takes no plain connection from afar."""
    with debians_postgres(takes_plain=False) as address:
        with psycopg.connect(address) as server:
            server.execute("CREATE TABLE of_tls (id int)")
        with pytest.raises(psycopg.OperationalError, match="no encryption"):
            psycopg.connect(f"{address}?sslmode=disable")
        yield address


def schema_of(url: str, *elsewhere: str) -> str:
    with closing(Server.of_settings(database_of(url)).connect()) as reading:
        snapshot = begin_reading(reading.cursor())
        patterns = (elsewhere,) if elsewhere else ()
        return schema_statements(reading, "pre-data", snapshot, *patterns)


@pytest.mark.parametrize("mode", ["", "?sslmode=prefer", "?sslmode=allow", "?sslmode=require"])
def test_a_schema_is_read_by_the_program_of_the_machine_where_the_connection_is_encrypted(
    mode: str, url: str
) -> None:
    """Whatever asks for that: the address, or the server alone."""
    assert "CREATE TABLE public.of_tls" in schema_of(url + mode)


def test_where_no_program_speaks_tls_it_is_said_what_to_install(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(
        CopyRefused, match=r"is encrypted, .* install the client programs of Postgres \d+ or newer .*Debian: apt install postgresql-client"
    ):  # fmt: skip
        schema_of(url, "/nowhere/*")


def test_settings_are_taken_from_where_libpq_has_them(
    url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Here the mode from the environment, and host and port from a service."""
    host, _, rest = url.rpartition("@")[2].partition(":")
    port, _, name = rest.partition("/")
    service = tmp_path / "services"
    service.write_text(f"[elsewhere]\nhost={host}\nport={port}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(service))
    monkeypatch.setenv("PGSSLMODE", "require")
    whose = url.partition("@")[0]
    assert "CREATE TABLE public.of_tls" in schema_of(f"{whose}@/{name}?service=elsewhere")


def test_no_secret_is_in_the_list_of_processes(
    url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The password of the role, and that of a key of TLS."""
    record, program = tmp_path / "record", tmp_path / "bin" / "pg_dump"
    program.parent.mkdir()
    real = max(Path("/usr/lib/postgresql").glob("*/bin/pg_dump"))
    program.write_text(RECORDING.format(record=record, program=real))
    program.chmod(0o755)
    password = url.partition("@")[0].rpartition(":")[2]
    monkeypatch.setenv("PATH", str(program.parent))
    statements = schema_of(f"{url}?sslpassword=geheim", "/nowhere/*")
    assert "CREATE TABLE public.of_tls" in statements
    listed = record.read_text()
    assert "--schema=public" in listed
    assert "geheim" not in listed
    assert password not in listed


@pytest.mark.proof
def test_an_installation_moves_to_a_server_that_takes_tls_alone(
    first_start: FirstStart, tmp_path: Path
) -> None:
    """And is copied there, and restored, by its commands."""
    home = first_start.copied_to(tmp_path)
    with debians_postgres(takes_plain=False) as address:
        moved = manage(home, "move_database", address)
        assert moved.returncode == 0, moved.stdout + moved.stderr
        made = manage(home, "backup", str(tmp_path / "copy"))
        assert made.returncode == 0, made.stderr
        replaced = manage(home, "restore", str(tmp_path / "copy"), "--replace")
        assert replaced.returncode == 0, replaced.stderr
        assert "the ledger adds up" in replaced.stdout
        done = manage(home, "upgrade")
        assert "Nothing to do" in done.stdout, done.stderr
