"""What a person waits for begins while sweeps keep their workers busy: real workers, on files and on Redis."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil
import psycopg
import pytest
import redis
from celery import Celery

from controlplane import beat, clock
from controlplane.broker import SCHEME
from controlplane.celery import app
from controlplane.embedded_postgres import running
from controlplane.queues import PEOPLE, SWEEPS, WAITED_FOR
from controlplane.redis_broker import COUNT_KEY, KEPT_KEY
from tests.databases import wait_until
from tests.journeys.installations import ROOT, FirstStart, bare_environment, manage
from tests.journeys.test_processes import free_port

LONGEST_WAIT_SECONDS = 15
wait_for = partial(wait_until, seconds=90)
ASK_EXPORT = """
from datetime import UTC, datetime
from apps.accounts.actions import add_person
from apps.ledger import queries as ledger
from apps.ledger.actions.exports import NewExport, request_export
from apps.ledger.queries.exports import Asker, ExportWhat
at = datetime.now(UTC)
person = add_person(email="fin@example.org", name="Fin", role="finance", password="a long password")
window = ledger.window_of("7d", ledger.calendar_of("UTC", 1, at))
wanted = NewExport(what=ExportWhat.LINES, window=window, asked={}, chosen={})
request_export(wanted=wanted, asker=Asker(person_id=person), at=at)
"""
IS_MADE = "SELECT state FROM ledger_export"
BLOCKED = """SELECT count(*) FROM pg_stat_activity
WHERE wait_event_type = 'Lock' AND query ILIKE '%django_session%'"""
SWEEP, EXPORT = "apps.accounts.tasks.forget_ended_sessions", "apps.ledger.tasks.make_exports"


def test_every_task_that_a_person_waits_for_is_of_the_peoples_queue_and_comes_soon() -> None:
    app.loader.import_default_modules()
    assert set(WAITED_FOR) <= set(app.tasks)
    routed = {task: clock.app.amqp.router.route({}, task)["queue"].name for task in app.tasks}
    assert {task for task, queue in routed.items() if queue == PEOPLE} == set(WAITED_FOR)
    every = {each["task"]: each["schedule"] for each in beat.beat_schedule.values()}
    assert set(every) <= set(app.tasks), "a worker refuses what it has not loaded"
    assert max(every[task] for task in WAITED_FOR) <= LONGEST_WAIT_SECONDS
    assert set(routed.values()) == {SWEEPS, PEOPLE}


def test_the_beat_loads_neither_django_nor_a_task() -> None:
    """It sends names: what it loaded beside them would stand in memory for nothing."""
    code = (
        "import sys, controlplane.clock as c; c.app.finalize();"
        "print([m for m in ('apps.ledger.models', 'apps.ledger.tasks', 'numpy') if m in sys.modules])"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "[]"


@dataclass(frozen=True, slots=True)
class Workers:
    """Real workers of an installation: their process, its database, and who sends them messages."""

    home: Path
    url: str
    process: subprocess.Popen[bytes]
    sender: Celery

    def ask(self, statement: str) -> object:
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute(statement).fetchone()
            return row and row[0]

    def queue_workers(self) -> dict[str, int]:
        """The process of each worker, by the queue that it is named for."""
        children = sorted(psutil.Process(self.process.pid).children(), key=lambda each: each.pid)
        alive = [each.pid for each in children if each.status() != psutil.STATUS_ZOMBIE]
        return dict(zip((SWEEPS, PEOPLE), alive, strict=False))

    def send(self, task: str) -> None:
        self.sender.send_task(task)


@contextmanager
def redis_server() -> Iterator[str]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    port = free_port()
    server = subprocess.Popen(
        [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
        stdout=subprocess.DEVNULL,
    )
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait(20)


@contextmanager
def working(home: Path, broker_url: str = "", **settings: str) -> Iterator[Workers]:
    """Workers of that home; its database runs as long as they do."""
    with running(home) as url, home.with_suffix(".log").open("ab") as log:
        variables = {"RUNRATE_DATABASE_URL": url, "RUNRATE_BROKER_URL": broker_url, **settings}
        process = subprocess.Popen(
            [sys.executable, "-m", "controlplane.workers"],
            cwd=ROOT,
            env=bare_environment(home) | {name: text for name, text in variables.items() if text},
            stderr=log,
            start_new_session=True,
        )
        try:
            yield Workers(home, url, process, sender_to(home, broker_url))
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def sender_to(home: Path, broker_url: str) -> Celery:
    """As beat sends: the same queues and routes."""
    sender = Celery("test", set_as_current=False)
    sender.conf.update(
        broker_url=broker_url or f"{SCHEME}://",
        task_default_queue=beat.task_default_queue,
        task_queues=beat.task_queues,
        task_routes=beat.task_routes,
        task_ignore_result=True,
    )
    if not broker_url:
        folder = home / "broker"
        folder.mkdir(mode=0o700, exist_ok=True)
        options = {"data_folder_in": str(folder), "data_folder_out": str(folder)}
        sender.conf.broker_transport_options = options
    return sender


@contextmanager
def sweeps_stand_still(workers: Workers) -> Iterator[None]:
    """Every process for sweeps waits for a table, and more sweeps wait behind them."""
    with psycopg.connect(workers.url) as holder:
        holder.execute("LOCK TABLE django_session IN ACCESS EXCLUSIVE MODE")
        for _ in range(6):
            workers.send(SWEEP)
        wait_for(lambda: workers.ask(BLOCKED) == 2)
        yield
        holder.rollback()


@pytest.mark.proof
@pytest.mark.parametrize("broker", ["files", "redis"])
def test_an_export_is_made_while_sweeps_keep_every_worker_of_theirs_busy(
    first_start: FirstStart, tmp_path: Path, broker: str
) -> None:
    home = first_start.copied_to(tmp_path)
    asked = manage(home, "shell", "--no-imports", "-c", ASK_EXPORT)
    assert asked.returncode == 0, asked.stderr
    with nothing() if broker == "files" else redis_server() as url, working(home, url) as workers:
        with sweeps_stand_still(workers):
            workers.send(EXPORT)
            wait_for(lambda: workers.ask(IS_MADE) == "done")
            assert workers.ask(BLOCKED) == 2, "no sweep has got on meanwhile"
        wait_for(lambda: workers.ask(BLOCKED) == 0)


@contextmanager
def nothing() -> Iterator[str]:
    yield ""


@pytest.mark.proof
def test_workers_outlive_each_other_and_messages_of_every_kind_and_end_with_their_parent(
    first_start: FirstStart, tmp_path: Path
) -> None:
    home = first_start.copied_to(tmp_path)
    with working(home) as workers:
        before = wait_for(lambda: both_of(workers))
        os.kill(before[PEOPLE], signal.SIGKILL)
        after = wait_for(lambda: (both := both_of(workers)) and both != before and both)
        assert before[SWEEPS] in after.values(), "the other goes on"

        for number, hostile in enumerate(hostile_messages()):
            (home / "broker" / f"{number:020d}_hostile.{PEOPLE}.msg").write_text(hostile)
        wait_for(lambda: not list((home / "broker").glob("*_hostile.*")))
        with psycopg.connect(workers.url, autocommit=True) as database:
            database.execute(
                "INSERT INTO django_session VALUES ('old', '', now() - interval '1 day')"
            )
        workers.send(SWEEP)
        wait_for(lambda: workers.ask("SELECT count(*) FROM django_session") == 0)
        assert both_of(workers) == after

        family = psutil.Process(workers.process.pid).children(recursive=True)
        workers.process.kill()
        workers.process.wait()
        wait_for(lambda: not [each for each in family if is_alive(each)])


@pytest.mark.proof
def test_messages_in_redis_that_are_none_are_counted_and_end_no_worker(
    first_start: FirstStart, tmp_path: Path
) -> None:
    home = first_start.copied_to(tmp_path)
    with redis_server() as url, working(home, url) as workers:
        before = wait_for(lambda: both_of(workers))
        client = redis.Redis.from_url(url)
        hostile = ["half a mess", b"\xff\xfe", "", "7", "{}", *hostile_messages()]
        for message in hostile:
            client.lpush(PEOPLE, message)
            client.lpush(SWEEPS, message)
        wait_for(lambda: not client.llen(PEOPLE) and not client.llen(SWEEPS))
        with psycopg.connect(workers.url, autocommit=True) as database:
            database.execute(
                "INSERT INTO django_session VALUES ('old', '', now() - interval '1 day')"
            )
        workers.send(SWEEP)
        wait_for(lambda: workers.ask("SELECT count(*) FROM django_session") == 0)
        assert both_of(workers) == before
        assert int(client.get(COUNT_KEY)) >= 2 * 8
        assert b"half a mess" in client.lrange(KEPT_KEY, 0, -1)


@pytest.mark.proof
def test_a_worker_process_that_has_grown_is_replaced_and_the_worker_goes_on(
    first_start: FirstStart, tmp_path: Path
) -> None:
    home = first_start.copied_to(tmp_path)
    with working(home, RUNRATE_WORKER_MEMORY_MIB="1") as workers:
        before = wait_for(lambda: both_of(workers))
        sweeps = psutil.Process(before[SWEEPS])
        pool = wait_for(lambda: {each.pid for each in sweeps.children()})
        for _ in range(4):
            workers.send(SWEEP)
        wait_for(lambda: (now := {each.pid for each in sweeps.children()}) and not now & pool)
        assert both_of(workers) == before


def both_of(workers: Workers) -> dict[str, int] | None:
    """The two workers, once they take messages."""
    both = workers.queue_workers()
    try:
        ready = [each for each in both.values() if psutil.Process(each).children()]
    except psutil.NoSuchProcess:
        return None  # it has just ended
    return both if len(ready) == 2 else None


def is_alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def hostile_messages() -> list[str]:
    """Messages that are none, and some whose envelope alone is one."""
    deep = 200_000
    envelope = (
        '{"body": "W10=", "content-type": "application/json", "content-encoding": "utf-8",'
        ' "headers": %s, "properties": {"delivery_tag": "t", "body_encoding": "base64",'
        ' "delivery_info": {"exchange": "people", "routing_key": "people"}}}'
    )
    named = '{"task": "apps.ledger.tasks.make_exports", "id": "1", "argsrepr": "()", %s}'
    return [
        "[" * deep,
        '{"a":' * deep,
        '{"__type__": "decimal", "__value__": "x"}',
        envelope % '{"task": ["unhashable"], "id": "1"}',
        envelope % '{"task": {"a": 1}, "id": "1"}',
        envelope % "[]",
        envelope % "7",
        envelope % '{"task": "nobody.knows", "id": "1"}',
        envelope % (named % '"eta": 7'),
        envelope % (named % '"expires": {"a": 1}'),
        envelope % (named % '"timelimit": "x"'),
        envelope % (named % '"retries": "many"'),
        envelope % '{"task": "apps.ledger.tasks.make_exports", "id": ["1"]}',
    ]
