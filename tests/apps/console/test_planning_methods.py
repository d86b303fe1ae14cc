"""Each page of Plan leads to how its answer is computed, in the words of the documentation."""

import re

import pytest
from django.test import Client

from apps.console.kit.methods import ANSWERS, FIELDS, PAGES
from tests import make
from tests.apps.console.people import signed_in, words_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def platform() -> Client:
    make.make_organisation()
    return signed_in("platform")


def test_every_answer_has_all_that_a_reader_needs(platform: Client) -> None:
    page = platform.get("/plan/methods").content.decode()

    for each in ANSWERS:
        assert [name for name, words in each.facts if words] == [field.heading for field in FIELDS]
        assert f'id="{each.name}"' in page
        assert each.title in page
    assert not re.search(r"\]\(|`|\*\*", page.partition("<main")[2])


@pytest.mark.parametrize(("start", "name"), PAGES)
def test_each_page_of_plan_leads_to_its_own(platform: Client, start: str, name: str) -> None:
    page = platform.get(start).content.decode()

    assert f'href="/plan/methods#{name}"' in page
    assert name in {each.name for each in ANSWERS}


def test_no_other_page_does_and_everybody_may_read_it(platform: Client) -> None:
    assert "/plan/methods" not in platform.get("/costs").content.decode()
    assert "Where it is weak" in words_of(signed_in("lead").get("/plan/methods"))
