"""Every change and every pass is one line: who, what, how many, how long, under which request."""

import io
import json
import logging
import re
from importlib import import_module

import pytest
import structlog
from django.core.cache import cache
from django.test import Client

from apps.accounts.actions import teams
from apps.accounts.actions.people import NewPerson, accept_invitation, invite_person
from apps.fleet.actions.clouds import CloudAccountNameTaken, NewCloudAccount, add_cloud_account
from apps.logs import changes
from apps.logs.changes import logged_change, logged_pass, untold
from apps.logs.context import acting
from apps.marks.actions import expand_ranges
from apps.telemetry import tasks
from controlplane.celery import app, pass_request_on
from controlplane.log_lines import LineFormatter, configure, written_together
from tests import make
from tests.apps.console.people import PASSWORD, confirmed, signed_in
from tests.apps.ledger import scene
from tests.apps.telemetry.doors import through_django, through_the_front_door, with_token
from tests.apps.telemetry.sending import batch, make_sending, window

pytestmark = pytest.mark.django_db

FIELD = re.compile(r'([\w.]+)=("(?:[^"\\]|\\.)*"|\S*)')
CLOUD = {"name": "main", "provider": "aws", "account": "123456789012", "regions": "us-east-1"}


class Lines:
    """What was written, as it is written to stderr."""

    def __init__(self, style: str) -> None:
        self.out = io.StringIO()
        self.handler = logging.StreamHandler(self.out)
        self.handler.setFormatter(LineFormatter(style))

    @property
    def text(self) -> str:
        return self.out.getvalue()

    def clear(self) -> None:
        """Forget what was written while the scene was set."""
        self.out.seek(0)
        self.out.truncate()

    def of_changes(self) -> list[dict[str, str]]:
        """The lines of changes and passes, each read back into its fields, whole."""
        found = []
        for line in self.text.splitlines():
            fields = {name: value.strip('"') for name, value in FIELD.findall(line)}
            assert FIELD.sub("", line).strip() == "", f"not key=value: {line}"
            if "who" in fields:
                found.append(fields)
        return found


def listening(style: str, level: int):
    # Loading it sets up the logs anew, which a test that hears already would not.
    import_module("controlplane.wsgi")
    heard, root = Lines(style), logging.getLogger()
    before = root.level
    root.addHandler(heard.handler)
    root.setLevel(level)
    try:
        yield heard
    finally:
        root.setLevel(before)
        root.removeHandler(heard.handler)


@pytest.fixture
def lines():
    """At the level that is set where nobody says otherwise."""
    cache.clear()
    make.make_organisation()
    yield from listening("key_value", logging.INFO)


@pytest.fixture
def all_lines():
    """At the level that says the most."""
    cache.clear()
    make.make_organisation()
    yield from listening("key_value", logging.DEBUG)


def test_a_change_by_browser_is_one_line_of_its_person_and_request(lines) -> None:
    client = signed_in("platform")
    lines.clear()
    answer = confirmed(client, "/clouds/add", CLOUD, headers={"X-Request-ID": "from-a-proxy.1"})
    assert answer.status_code == 302
    (line,) = lines.of_changes()
    assert line["event"] == "add_cloud_account"
    assert re.fullmatch(r"person:\d+", line["who"])
    assert (line["count"], line["request_id"]) == ("1", "from-a-proxy.1")
    assert float(line["ms"]) >= 0
    assert line["id"].isdecimal()
    assert line["level"] == "info"
    assert answer.headers["X-Request-ID"] == "from-a-proxy.1"


@pytest.mark.parametrize(
    "given", ["", "short", "x" * 65, "a b c d e f", 'say="hello"', "tab\tin-it.."]
)
def test_a_request_id_that_is_not_sane_is_replaced(lines, given) -> None:
    answer = Client().get("/healthz", headers={"X-Request-ID": given} if given else {})
    assert re.fullmatch(r"[0-9a-f]{16}", answer.headers["X-Request-ID"])


def test_reading_is_no_line(lines) -> None:
    client = signed_in("platform")
    lines.clear()
    client.get("/clouds")
    client.get("/clouds/add", CLOUD)
    assert lines.of_changes() == []


def test_a_change_by_rest_is_a_line_of_the_tokens_name(lines) -> None:
    token = make.make_token("manage", name="terraform")
    lines.clear()
    body = json.dumps({"name": "atlas", "kind": "slurm"})
    answer = Client(headers={"Authorization": f"Bearer {token.secret}"}).post(
        "/api/v1/clusters", body, content_type="application/json"
    )
    assert answer.status_code == 201, answer.content
    (line,) = lines.of_changes()
    assert (line["event"], line["who"]) == ("add_cluster", "token:terraform")
    assert line["request_id"] == answer.headers["X-Request-ID"]


@pytest.mark.parametrize("door", [through_django, through_the_front_door])
def test_a_batch_is_one_line_of_its_agent_through_either_door(lines, door) -> None:
    sending = make_sending()
    body = json.dumps(batch([window(0), window(1)])).encode()
    lines.clear()
    asked = with_token(sending.secret) | {"HTTP_X_REQUEST_ID": "batch-0001"}
    status, headers, answer = door(body, **asked)
    assert status == 200
    (line,) = lines.of_changes()
    assert (line["event"], line["who"]) == ("ingest", f"agent:{sending.agent_id}")
    assert (line["count"], line["request_id"]) == (str(answer["accepted"]), "batch-0001")
    assert headers["X-Request-ID"] == "batch-0001"


def test_lines_of_what_came_together_are_written_at_once_each_its_own(lines) -> None:
    log, written = structlog.get_logger(), []
    lines.handler.addFilter(lambda record: not written.append(record))
    with written_together():
        for number in range(3):
            log.info("ingest", who=f"agent:{number}", count=number)
        assert not written
    assert len(written) == 1
    assert [line["who"] for line in lines.of_changes()] == ["agent:0", "agent:1", "agent:2"]


def test_each_pass_is_a_line_with_its_hour_and_what_it_changed(lines) -> None:
    scene.make_priced_node()
    lines.clear()
    with acting(actor="command:settle", request_id="settle-0001"):
        scene.settle()
    told = {(line["event"], line["count"]): line for line in lines.of_changes()}
    assert told.keys() == {("charge", "1"), ("split", "1"), ("roll_up", "1")}
    assert told["charge", "1"]["hour"] == scene.TEN.isoformat()
    assert {(line["who"], line["request_id"]) for line in told.values()} == {
        ("command:settle", "settle-0001")
    }


def test_what_an_action_does_by_another_is_part_of_its_line(lines) -> None:
    inner = logged_change()(lambda: 7)
    a_pass = logged_pass("charge")(lambda: 2)

    def outer():
        inner(), a_pass()
        return 3

    logged_change()(outer)()
    assert [line["event"] for line in lines.of_changes()] == ["charge", "outer"]


def test_what_is_taken_back_is_not_told(lines) -> None:
    with untold():
        logged_pass("charge")(lambda: 2)()
    assert lines.text == ""


def test_where_nothing_changed_the_line_is_for_debug(lines) -> None:
    assert expand_ranges() == 0
    assert lines.of_changes() == []


def test_the_same_is_told_at_debug(all_lines) -> None:
    expand_ranges()
    assert [line["count"] for line in all_lines.of_changes()] == ["0"]


def test_a_refusal_is_told_by_its_name_and_raised(lines) -> None:
    account = NewCloudAccount("main", "aws", "123456789012", ("us-east-1",))
    add_cloud_account(account=account, at=make.NOON)
    with pytest.raises(CloudAccountNameTaken):
        add_cloud_account(account=account, at=make.NOON)
    first, second = lines.of_changes()
    assert (first["count"], "refused" in first) == ("1", False)
    assert (second["count"], second["refused"]) == ("0", "CloudAccountNameTaken")


def test_no_password_token_cookie_or_text_that_was_entered_is_in_a_line(all_lines) -> None:
    client = signed_in("platform")
    session = client.cookies["sessionid"].value if "sessionid" in client.cookies else ""
    canaries = ["canary horse battery", "canary-prompt", "Canary Team", "canary@example.org"]
    teams.add_team(name="Canary Team", cost_centre="canary-prompt")
    person = NewPerson(email="canary@example.org", name="Canary", role="viewer")
    invited = invite_person(person=person, invited_by_id=None, at=make.NOON)
    accept_invitation(secret=invited.secret, password=canaries[0], at=make.NOON)
    token = make.make_token("manage", "usage")
    Client().post("/sign-in", {"login": "canary@example.org", "password": canaries[0]})
    call = {"id": "call-0001", "vendor": "openai", "model": "gpt", "prompt": "canary-prompt"}
    Client(headers={"Authorization": f"Bearer {token.secret}"}).post(
        "/api/v1/usage-events", json.dumps([call]), content_type="application/json"
    )
    confirmed(client, "/clouds/add", CLOUD | {"role_arn": "", "name": "canary-prompt"})
    told = "\n".join(line for line in all_lines.text.splitlines() if " who=" in line)
    assert told.count("event=") >= 5
    for secret in (*canaries, invited.secret, token.secret, PASSWORD, session):
        assert not secret or secret not in told


def test_a_name_of_a_token_cannot_write_a_line_of_its_own(lines) -> None:
    token = make.make_token("manage", name='x" who=admin\nevent=close_month')
    lines.clear()
    Client(headers={"Authorization": f"Bearer {token.secret}"}).post(
        "/api/v1/clusters", json.dumps({"name": "atlas", "kind": "slurm"}),
        content_type="application/json",
    )  # fmt: skip
    (line,) = lines.of_changes()
    assert (line["event"], line["who"]) == ("add_cluster", "token:x__who_admin_event_close_month")


def test_a_task_goes_on_under_the_id_of_what_sent_it_or_under_its_own(all_lines) -> None:
    headers: dict[str, str] = {}
    with acting(actor="nobody", request_id="web-request-1"):
        pass_request_on(headers=headers)
    assert headers == {"request_id": "web-request-1"}
    assert tasks.end_incidents.name in app.tasks
    done = tasks.end_incidents.apply()
    (line,) = [one for one in all_lines.of_changes() if one["event"] == "end_with_their_nodes"]
    assert (line["who"], line["request_id"]) == ("worker", done.id)


@pytest.fixture
def json_lines(monkeypatch):
    """As collectors of JSON have it: chosen before the first line, as a process does."""
    configure("json")
    monkeypatch.setattr(changes, "log", structlog.get_logger())
    yield from listening("json", logging.INFO)
    configure("key_value")


def test_json_says_the_same(json_lines) -> None:
    with acting(actor="command:settle", request_id="settle-0001"):
        logged_pass("charge")(lambda: 2)()
        logging.getLogger("a.library").warning("it\nsaid %s", "so")
    ours, theirs = (json.loads(line) for line in json_lines.text.splitlines())
    assert (ours["event"], ours["who"], ours["count"]) == ("charge", "command:settle", 2)
    assert (theirs["event"], theirs["logger"]) == ("it\nsaid so", "a.library")


def test_a_library_line_is_key_value_too_and_a_traceback_follows_its_line(lines) -> None:
    try:
        raise ValueError("seven")
    except ValueError:
        logging.getLogger("a.library").exception("it broke")
    first, *rest = lines.text.splitlines()
    assert 'event="it broke"' in first
    assert "logger=a.library" in first
    assert rest[0].startswith("Traceback")
    assert rest[-1] == "ValueError: seven"


def test_a_line_of_what_went_wrong_has_its_fields_apart(lines) -> None:
    with acting(actor="worker", request_id="sweep-0001"):
        logging.getLogger("apps.ledger.actions.settle").warning(
            "settle_deferred pass=%s hour=%s reason=%s", "CHARGE", 7, "it was\nlocked"
        )
    fields = dict(FIELD.findall(lines.text))
    assert (fields["event"], fields["pass"], fields["hour"]) == ("settle_deferred", "CHARGE", "7")
    assert fields["reason"] == '"it was\\nlocked"'
    assert (fields["logger"], fields["request_id"]) == (
        "apps.ledger.actions.settle",
        "sweep-0001",
    )
    assert len(lines.text.splitlines()) == 1
