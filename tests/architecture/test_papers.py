"""Documents that repeat the code are checked against it."""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest
import yaml
from django.template.loader import get_template

from apps.console.kit.methods import ANSWERS
from apps.console.pages.clouds.words import how_often
from apps.providers.cloud import KINDS
from apps.providers.registry import clouds
from controlplane.env import PREFIX, BadEnvironment, Environment, environment

ROOT = Path(__file__).resolve().parents[2]


def cloud_rows() -> list[str]:
    """The rows of the table of clouds, as their folders say them."""
    return [
        f"| {cloud.label} | `{cloud.key}` | `{kind}` | "
        + ", ".join(f"`{needed}`" for needed in cloud.permissions[kind])
        + " |"
        for cloud in clouds().values()
        for kind in cloud.readings
    ]


def test_the_page_of_clouds_tells_what_each_can_be_read_for():
    text = (ROOT / "docs" / "guides" / "clouds.md").read_text()
    table = text.split("| cloud | `--provider` | word | permissions |\n|---|---|---|---|\n")[1]
    assert table.split("\n\n")[0].splitlines() == cloud_rows()


def test_the_page_of_clouds_tells_how_often_each_kind_is_read():
    text = (ROOT / "docs" / "guides" / "clouds.md").read_text()
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]
    told = {row[0].strip("| `"): row[2] for row in rows if len(row) == 4}
    assert told == {kind: how_often(kind) for kind in KINDS}


def test_the_policy_in_the_page_of_clouds_allows_what_aws_is_asked():
    text = (ROOT / "docs" / "guides" / "clouds.md").read_text()
    policy = json.loads(text.split("```json\n")[1].split("```")[0])
    allowed = set()
    for statement in policy["Statement"]:
        actions = statement["Action"]
        allowed |= {actions} if isinstance(actions, str) else set(actions)
    needed = clouds()["aws"].permissions.values()
    assert allowed == {each for permissions in needed for each in permissions}


def test_an_unknown_setting_is_refused_by_name():
    with pytest.raises(BadEnvironment, match="RUNRATE_DATABSE_URL"):
        environment({"RUNRATE_DATABSE_URL": "postgres://x"})


def test_a_bad_value_is_refused_by_name():
    with pytest.raises(BadEnvironment, match=r"RUNRATE_WEB_THREADS cannot be 'many'"):
        environment({"RUNRATE_WEB_THREADS": "many"})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("VERDICT_SHARES", "sleeping=0.1"),
        ("ENGINEER_HOUR_COST", "-1"),
        ("VERDICT_SHARES", "data_wait=10"),
        ("TOKEN_WEIGHTS", "10,1"),
        ("TOKEN_WEIGHTS", "0,0,0"),
        ("KEEP_WINDOW_DAYS", "7"),
        ("KEEP_USAGE_MONTHS", "0"),
        ("KEEP_QUOTE_DAYS", "30"),
    ],
)
def test_thresholds_weights_and_retention_are_refused_where_they_make_no_sense(name, text):
    with pytest.raises(BadEnvironment, match=PREFIX + name):
        environment({PREFIX + name: text})


def test_thresholds_are_read_by_bucket():
    chosen = environment({"RUNRATE_VERDICT_SHARES": "data_wait=0.15, lost=0.02"})
    assert dict(chosen.verdict_shares) == {"data_wait": 0.15, "lost": 0.02}


def test_a_setting_may_come_from_a_file(tmp_path):
    path = tmp_path / "key"
    path.write_text("from-a-file\n")
    assert environment({"RUNRATE_SECRET_KEY_FILE": str(path)}).secret_key == "from-a-file"


def test_a_setting_and_its_file_together_are_refused(tmp_path):
    with pytest.raises(BadEnvironment, match="both set"):
        environment({"RUNRATE_SECRET_KEY": "x", "RUNRATE_SECRET_KEY_FILE": str(tmp_path)})


@pytest.mark.parametrize(
    "name",
    sorted(
        str(path.relative_to(ROOT / "templates")) for path in (ROOT / "templates").rglob("*.html")
    ),
)
def test_every_template_compiles(name):
    assert get_template(name)


def compose() -> dict:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def test_compose_has_the_services_of_an_installation():
    assert set(compose()["services"]) >= {"postgres", "redis", "web", "worker", "beat", "agent"}


def test_compose_uses_only_settings_that_exist():
    names = {
        name
        for service in compose()["services"].values()
        for name in service.get("environment", {})
        if name.startswith(PREFIX)
    }
    assert names
    assert names <= {PREFIX + each.name.upper() for each in fields(Environment)}


def test_compose_services_wait_only_for_services_that_exist():
    services = compose()["services"]
    waited = {name for each in services.values() for name in each.get("depends_on", {})}
    assert waited <= set(services)


def test_every_page_under_plan_has_its_answer_on_the_page_of_planning():
    group = (ROOT / "templates" / "base.html").read_text().split("<h2>Plan</h2>")[1]
    names = re.findall(r">([A-Z][^<>{}]+)</a>", group.split("</div>")[0])
    titles = " ".join(answer.title for answer in ANSWERS)
    assert len(names) > 5
    assert [name for name in names if name not in titles] == []
