"""Style sheets and scripts come compressed, and may be kept for good under names that never lie."""

import re
from pathlib import Path

import brotli
import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.test import Client

from controlplane import static_names

# Whoever asked before may have left a connection, which the end of an answer looks at.
pytestmark = pytest.mark.django_db
STATIC = settings.PROJECT_ROOT / "static"
SCRIPTS = sorted(path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.js"))
SHEETS = sorted(path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.css"))
KB = 1000
MOST_SCRIPT_KB = 500


def fetched(name: str, encoding: str = "br"):
    answer = Client().get(static(name), headers={"Accept-Encoding": encoding})
    assert answer.status_code == 200
    body = b"".join(answer.streaming_content)
    answer.close()
    return answer, body


@pytest.mark.parametrize("name", [*SCRIPTS, *SHEETS])
def test_a_browser_keeps_a_script_or_sheet_for_good_and_gets_it_compressed(name) -> None:
    answer, body = fetched(name)
    assert answer["Cache-Control"] == "max-age=315360000, public, immutable"
    assert answer["Content-Encoding"] == "br"
    assert brotli.decompress(body) == (STATIC / name).read_bytes()
    assert fetched(name, "gzip")[0]["Content-Encoding"] == "gzip"


def test_all_scripts_together_weigh_less_than_promised() -> None:
    assert len(SCRIPTS) > 3
    assert sum(len(fetched(name)[1]) for name in SCRIPTS) <= MOST_SCRIPT_KB * KB


def test_a_name_changes_with_what_the_file_says(tmp_path: Path, settings) -> None:
    settings.HOME = tmp_path
    (tmp_path / "static" / "js").mkdir(parents=True)
    script = tmp_path / "static" / "js" / "a.js"
    settings.PROJECT_ROOT = tmp_path
    names = []
    for content in ("first", "second"):
        script.write_text(content)
        names.append(static_names.named.__wrapped__()["js/a.js"])
    assert len(set(names)) == 2
    assert all(re.search(static_names.IMMUTABLE, f"/static/{name}") for name in names)
    assert (tmp_path / "static-named" / names[0]).read_text() == "first"


def test_a_plain_name_is_asked_for_again_within_the_hour() -> None:
    answer = Client().get("/static/js/theme.js")
    answer.close()
    assert answer["Cache-Control"] == "max-age=3600, public"
    assert finders.find("js/theme.000000000000.js") is None
