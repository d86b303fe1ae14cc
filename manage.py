#!/usr/bin/env python
"""Django's command line, with a database under it for the commands that need one."""

import os
import sys

WITHOUT_DATABASE = {
    "backtest", "check", "collectstatic", "compilemessages", "diffsettings", "help", "makemessages",
    "runserver", "spectacular", "startapp", "startproject", "version", "--help", "--version",
}  # fmt: skip
WITHOUT_SCHEMA = {
    "migrate",
    "makemigrations",
    "dbshell",
    "shell",
    "showmigrations",
    "sqlmigrate",
    "bench",
    # They take a database as it is, or bring one of their own.
    "backup",
    "restore",
    "upgrade",
    "move_database",
}
OF_MIGRATIONS = {"makemigrations", "migrate", "showmigrations", "sqlmigrate"}


def main() -> None:
    """Run one command; the embedded Postgres lives as long as it does."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    if command != "up" and (command == "demo" or sys.stderr.isatty()):
        # Who watches is told of progress in sentences; a line for every pass would bury them.
        os.environ.setdefault("RUNRATE_LOG_LEVEL", "WARNING")
    from controlplane.env import BadEnvironment

    try:
        begin(command)
    except BadEnvironment as problem:
        sys.exit(f"Runrate does not start: {problem}")


def begin(command: str) -> None:
    """Run a command on the database that the settings name, where it needs one."""
    from controlplane.command_line import run_command_line

    asks_for_help = "--help" in sys.argv or "-h" in sys.argv
    if command in WITHOUT_DATABASE or asks_for_help:
        run_command_line(sys.argv)
        return
    from controlplane.embedded_postgres import database_for
    from controlplane.ending import ended_by_signals
    from controlplane.env import environment
    from controlplane.postgres_programs import EmbeddedPostgresFailed

    chosen = environment()
    try:
        with ended_by_signals(), database_for(chosen.home, chosen.database_url):
            run(command)
    except EmbeddedPostgresFailed as problem:
        sys.exit(f"The database did not start: {problem}")
    except KeyboardInterrupt:
        sys.exit(130)


def run(command: str) -> None:
    """Run a command that needs the database, which is there."""
    from controlplane.command_line import run_command_line

    if command in OF_MIGRATIONS:
        refuse_too_old()
    if command in WITHOUT_SCHEMA - {"shell"}:
        run_command_line(sys.argv)
        return
    prepare(command)
    from controlplane.audit import changes_of_command

    with changes_of_command(command):
        run_command_line(sys.argv)


def refuse_too_old() -> None:
    """End here where this version's migrations do not go on from where the database is."""
    import django

    django.setup()
    from controlplane.migration_history import DatabaseTooOld, refuse_too_old

    try:
        refuse_too_old()
    except DatabaseTooOld as problem:
        sys.exit(str(problem))


def prepare(command: str) -> None:
    """Bring the database to where the command can work; a shell takes it as it is."""
    if command == "shell":
        import django

        django.setup()
        return
    from controlplane.copies.refusal import CopyRefused
    from controlplane.migration_history import DatabaseTooOld
    from controlplane.readiness import make_ready

    try:
        make_ready(command)
    except (DatabaseTooOld, CopyRefused) as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
