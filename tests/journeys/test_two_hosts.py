"""Two hosts of one installation, each with a home of its own: what one makes, the other has."""

import contextlib
import gzip
import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.db import connection

from apps.ledger.models import BillImport, Export
from controlplane import processes
from controlplane.env import environment
from tests import make
from tests.apps.ledger.bill_files import hour_row, text_of
from tests.buckets import new_bucket, served_buckets
from tests.databases import wait_until
from tests.journeys.test_processes import free_port

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.proof]
ROOT = Path(__file__).parents[2]


class Host:
    """One machine: a home, a web server, and whatever of the worker it is told to do."""

    def __init__(self, home: Path, shared: dict[str, str]) -> None:
        told = connection.settings_dict
        url = f"postgres://postgres@/{told['NAME']}?host={told['HOST'].replace('/', '%2F')}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        self.settings = kept | shared | {"RUNRATE_HOME": str(home), "RUNRATE_DATABASE_URL": url}
        self.port = free_port()
        child = processes.web(environment({}), f"127.0.0.1:{self.port}")
        self.web = subprocess.Popen(child.command, cwd=ROOT, env=self.settings)

    def asked(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
        caller = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(caller):
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            caller.request(method, path, body, named)
            answer = caller.getresponse()
            return answer.status, answer.read()

    def sweep(self, task: str) -> None:
        """Let a worker of this host do a sweep of the ledger."""
        script = (
            f"import django; django.setup(); from apps.ledger.tasks import {task}; {task}.apply()"
        )
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env=self.settings | {"DJANGO_SETTINGS_MODULE": "controlplane.settings"},
            check=True,
        )

    def is_up(self) -> bool:
        with contextlib.suppress(OSError):
            return self.asked("GET", "/healthz")[0] == 200
        return False


@pytest.fixture(params=["bucket", "folder"])
def hosts(request, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Host, Host]]:
    with contextlib.ExitStack() as stack:
        shared = {"RUNRATE_FILES": str(tmp_path_factory.mktemp("mounted"))}
        if request.param == "bucket":
            served = stack.enter_context(served_buckets())
            shared = served | {"RUNRATE_FILES": f"s3://{new_bucket(served)}/runrate"}
        # One installation signs with one key, and looks for its messages in one place.
        shared["RUNRATE_SECRET_KEY"] = "x" * 50
        both = [Host(tmp_path_factory.mktemp(f"host-{name}"), shared) for name in "ab"]
        try:
            for host in both:
                wait_until(host.is_up)
            yield both[0], both[1]
        finally:
            for host in both:
                host.web.terminate()
            for host in both:
                host.web.wait(30)


def test_an_export_of_one_host_and_an_upload_to_one_are_there_for_the_other(
    hosts: tuple[Host, Host],
) -> None:
    first, second = hosts
    make.make_organisation()
    bearer = {"Authorization": f"Bearer {make.make_token('read', 'manage').secret}"}
    asked = json.dumps({"what": "lines", "window": "7d"}).encode()
    status, answer = first.asked(
        "POST", "/api/v1/exports", asked, Content_Type="application/json", **bearer
    )
    assert status == 201, answer
    first.sweep("make_exports")
    export = Export.objects.get()
    assert export.state == "done", export.failure
    status, content = second.asked("GET", f"/api/v1/exports/{export.id}/file", **bearer)
    assert status == 200
    assert gzip.decompress(content).startswith(b"hour,node,pool,")

    bill = text_of([hour_row()]).encode()
    boundary = b"--x\r\n"
    head = b'Content-Disposition: form-data; name="file"; filename="bill.csv"\r\n\r\n'
    status, answer = first.asked(
        "POST",
        "/api/v1/bills/imports",
        boundary + head + bill + b"\r\n--x--\r\n",
        Content_Type="multipart/form-data; boundary=x",
        **bearer,
    )
    assert status == 202, answer
    second.sweep("take_bills")
    taken = BillImport.objects.get()
    assert (taken.state, taken.rows, taken.failure) == ("done", 1, "")
    assert taken.started_at < datetime.now(UTC)
