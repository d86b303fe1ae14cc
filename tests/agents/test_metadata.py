"""What clouds say of a machine, over HTTP as their metadata services speak it."""

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from runrate_agent.reclaim import MetadataUnreachable, Notices
from runrate_agent.reclaim.metadata import Aws, Gcp, cloud_here

TOKEN = "a-token"


class Service(BaseHTTPRequestHandler):
    """Either cloud's, by what is put on `pages`."""

    pages: dict[str, str]
    asked: list[tuple[str, str]]
    slow_seconds = 0.0

    def do_PUT(self) -> None:
        """AWS hands a token out only to who asks for one."""
        self.asked.append(("PUT", self.path))
        self._answer(200 if self.headers["X-aws-ec2-metadata-token-ttl-seconds"] else 400, TOKEN)

    def do_GET(self) -> None:
        """A page, to who has the token or Google's header."""
        self.asked.append(("GET", self.path))
        time.sleep(self.slow_seconds)
        is_let_in = (
            self.headers["X-aws-ec2-metadata-token"] == TOKEN
            if self.path.startswith("/latest")
            else self.headers["Metadata-Flavor"] == "Google"
        )
        page = self.pages.get(self.path.removeprefix("/latest/meta-data/").removeprefix(
            "/computeMetadata/v1/instance/"))  # fmt: skip
        self._answer(401 if not is_let_in else 404 if page is None else 200, page or "")

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""

    def _answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


@pytest.fixture
def service() -> Iterator[tuple[type[Service], str]]:
    kind = type("Fresh", (Service,), {"pages": {}, "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield kind, f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_aws_tells_what_a_machine_is_and_its_token_serves_many_questions(service) -> None:
    kind, address = service
    kind.pages |= {
        "instance-life-cycle": "spot",
        "instance-type": "p5.48xlarge",
        "placement/region": "us-east-1",
        "instance-id": "i-0abc",
    }
    aws = Aws(address)
    assert aws.facts() == {
        "purchase_option": "spot",
        "instance_type": "p5.48xlarge",
        "region": "us-east-1",
        "provider_id": "i-0abc",
    }
    assert aws.notice() is None
    assert [path for method, path in kind.asked if method == "PUT"] == ["/latest/api/token"]


@pytest.mark.parametrize(
    ("action", "kind_of_event"),
    [
        ("terminate", "reclaim_notice"),
        ("stop", "stop_notice"),
        ("hibernate", "stop_notice"),
    ],
)
def test_only_an_instance_that_does_not_come_back_ends_its_node(
    service, action: str, kind_of_event: str
) -> None:
    kind, address = service
    said = f'{{"action": "{action}", "time": "2026-11-20T10:10:00Z"}}'
    kind.pages["spot/instance-action"] = said
    notices = Notices(Aws(address))
    notices.look()
    (event,) = notices.taken()
    assert event.kind == kind_of_event
    assert (event.ends_at_ms is not None) == (kind_of_event == "reclaim_notice")


def test_google_tells_what_a_machine_is_and_that_it_is_preempted(service) -> None:
    kind, address = service
    kind.pages |= {
        "scheduling/provisioning-model": "SPOT",
        "machine-type": "projects/1/machineTypes/a3-highgpu-8g",
        "zone": "projects/1/zones/us-central1-a",
        "id": "4711",
        "preempted": "FALSE",
    }
    google = Gcp(address)
    assert google.facts() == {
        "purchase_option": "spot",
        "instance_type": "a3-highgpu-8g",
        "region": "us-central1",
        "provider_id": "4711",
    }
    assert google.notice() is None
    kind.pages["maintenance-event"] = "TERMINATE_ON_HOST_MAINTENANCE"
    stopped = google.notice()
    assert stopped is not None
    assert not stopped.is_end
    kind.pages["preempted"] = "TRUE"
    gone = google.notice()
    assert gone is not None
    assert gone.is_end


@pytest.mark.parametrize("text", ["<html>", "[]", ""])
def test_a_notice_that_is_none_is_no_notice(service, text: str) -> None:
    kind, address = service
    kind.pages["spot/instance-action"] = text
    with pytest.raises(MetadataUnreachable):
        Aws(address).notice()
    notices = Notices(Aws(address))
    notices.look()
    assert notices.taken() == []


def test_a_service_that_is_slow_or_not_there_costs_a_second_and_nothing_else(service) -> None:
    kind, address = service
    kind.slow_seconds = 10.0
    began = time.monotonic()
    for where in (address, "127.0.0.1:1"):
        with pytest.raises(MetadataUnreachable):
            Gcp(where).notice()
    assert time.monotonic() - began < 8


def test_the_cloud_is_known_by_its_hardware(tmp_path: Path) -> None:
    said = tmp_path / "sys/class/dmi/id"
    said.mkdir(parents=True)
    assert cloud_here("auto", tmp_path) is None
    (said / "sys_vendor").write_text("Amazon EC2\n")
    assert isinstance(cloud_here("auto", tmp_path), Aws)
    (said / "sys_vendor").write_text("Google\n")
    assert isinstance(cloud_here("auto", tmp_path), Gcp)
    assert cloud_here("none", tmp_path) is None
