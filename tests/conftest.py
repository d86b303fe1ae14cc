"""What every test stands on: a real Postgres, started once and private to the test run."""

import gc
import os
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import pytest_django
from hypothesis import HealthCheck, settings

from apps.show.charts import CHECKS
from tests.figures import check_figure
from tests.planted import forget_rows, planted

HERE = Path(__file__).resolve().parent
ASK_FOR_PAGES = {"apps", "contract", "scope"}
LONGEST = {room: n for n, room in enumerate(("journeys", "browser", "agents", "scope", "contract"))}

# On CI one commit is judged by one set of examples; whoever runs it elsewhere draws new ones.
settings.register_profile(
    "dev", max_examples=25, deadline=None, derandomize=os.environ.get("CI") == "true"
)
settings.register_profile(
    "ci", max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("RUNRATE_HYPOTHESIS", "dev"))


def pytest_configure(config: pytest.Config) -> None:
    """Watch the skips; Postgres runs already (tests/settings.py). Figures are held against plotly."""
    CHECKS.append(check_figure)
    config.pluginmanager.register(SkipsAreListed(), "skips-are-listed")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[Any]:
    """What is imported and collected stays to the end: nobody looks for garbage in it."""
    gc.disable()
    import_own_part(session.config)
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 20, 20)
        gc.enable()


def import_own_part(config: pytest.Config) -> None:
    """Begin with other files in each worker of a whole run: what one has compiled the others find."""
    worker = getattr(config, "workerinput", None)
    if worker is None or [Path(argument).resolve() for argument in config.args] != [HERE]:
        return
    files, count = sorted(HERE.rglob("test_*.py")), worker["workercount"]
    place = int(worker["workerid"].removeprefix("gw"))
    for path in files[len(files) * place // count : len(files) * (place + 1) // count]:
        # What cannot be imported, or is skipped, says so where it is collected.
        with suppress(Exception, pytest.skip.Exception):
            import_module(".".join(path.relative_to(HERE.parent).with_suffix("").parts))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the rooms whose files take longest: the short ones fill a parallel run's end."""
    items.sort(key=lambda item: LONGEST.get(item.path.relative_to(HERE).parts[0], len(LONGEST)))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Say to the processes of each test which settings there are: who loads the clock of the sweeps takes that out."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "controlplane.settings"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None,
    django_db_blocker: pytest_django.DjangoDbBlocker,
) -> None:
    """Copy the test database from one that is migrated already: migrating takes the longest."""
    from django.db import connection

    from tests.databases import migrated_template

    with django_db_blocker.unblock():
        connection.settings_dict["TEST"]["TEMPLATE"] = migrated_template()


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None, django_db_blocker: pytest_django.DjangoDbBlocker
) -> Iterator[None]:
    """Its database can be dropped at the end: threads of servers may keep a connection to it."""
    yield
    from django.db import connection

    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all workers of a run."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="module")
def of_module(
    django_db_setup: None, django_db_blocker: pytest_django.DjangoDbBlocker
) -> Iterator[None]:
    """What fixtures of a module make after this one stands for all its tests, as it was made.

    No test of the module may commit (`transaction=True`).
    """
    with planted(django_db_blocker):
        yield


@pytest.fixture(autouse=True)
def _process_forgets() -> None:
    """What the process keeps by itself is not of this test's database."""
    from django.core.cache import caches

    caches["process"].clear()


@pytest.fixture(autouse=True)
def _setup_waits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer has all of Setup counted after it, but where a browser or a test is about that.

    Nothing was counted when a test begins, so its first page would do for it what the first page
    of a minute does for a server.
    """
    if request.path.relative_to(HERE).parts[0] in ASK_FOR_PAGES:
        from controlplane import setup_count

        monkeypatch.setattr(setup_count, "is_count_due", lambda: False)


@pytest.fixture
def setup_is_counted(_setup_waits: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Setup is counted after an answer where that is due."""
    from apps.console.kit.waiting import is_count_due
    from controlplane import setup_count

    monkeypatch.setattr(setup_count, "is_count_due", is_count_due)


@pytest.fixture(scope="session", autouse=True)
def _answers_are_made_once(django_test_environment: None) -> Iterator[None]:
    """Every browser of a test starts the middleware: files are looked for by the first one alone.

    And no test asks what a template knew, of which Django's would keep a copy with each answer.
    """
    from django.template.base import Template
    from django.test.utils import _TestState
    from whitenoise.middleware import WhiteNoiseMiddleware

    found: dict[str, Any] = {}
    look = WhiteNoiseMiddleware.add_files_from_finders

    def look_once(self: WhiteNoiseMiddleware) -> None:
        if not found:
            look(self)
            found.update(self.files)
        self.files.update(found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", look_once)
        patch.setattr(Template, "_render", _TestState.saved_data.template_render)
        yield


@pytest.fixture(scope="session")
def aws_models() -> Iterator[None]:
    """What botocore knows of each service is read from disk once, not by every session anew."""
    from functools import cache

    from botocore import session

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "create_loader", cache(session.create_loader))
        yield


@pytest.fixture(scope="session", autouse=True)
def _committed_tests_leave_nothing() -> None:
    """Tests that commit empty every table; Django's own flush knows none that are partitioned."""
    from django.test import TransactionTestCase

    from tests.databases import empty_tables

    TransactionTestCase._fixture_teardown = lambda case: empty_tables()


@pytest.fixture(autouse=True)
def as_a_new_process() -> None:
    """Nothing that telemetry keeps in memory outlives the rows it stands for."""
    forget_rows()


def _allowed_reasons() -> tuple[str, ...]:
    table = tomllib.loads((HERE / "allowed_skips.toml").read_text())
    return tuple(entry["reason"] for entry in table["skip"])


class SkipsAreListed:
    """Fails the run when a test was skipped for a reason nobody wrote down."""

    def __init__(self) -> None:
        self.unlisted: list[str] = []
        self.allowed = _allowed_reasons()

    def _look(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and isinstance(report.longrepr, tuple):
            reason = str(report.longrepr[2]).removeprefix("Skipped: ")
            if not reason.startswith(self.allowed):
                self.unlisted.append(f"{report.nodeid}: {reason}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called for every test, on the controller too when tests run in parallel."""
        self._look(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Called for every module; a whole one may skip itself."""
        self._look(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """An unlisted skip is a failure."""
        if self.unlisted and not hasattr(session.config, "workerinput"):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say which."""
        for each in self.unlisted:
            terminalreporter.write_line(f"SKIP NOT IN tests/allowed_skips.toml: {each}", red=True)
