"""Every page is drawn from its one value, strict enough for a policy without anything inline."""

import re
from collections import Counter

import pytest
from allauth.account.forms import LoginForm
from django.template.loader import render_to_string
from django.test import RequestFactory

from tests.show.sample_pages import (
    make_answered_setup_page,
    make_empty_page,
    make_overview_page,
    make_setup_page,
)


def drawn(template, **context):
    return render_to_string(template, context, request=RequestFactory().get("/"))


def overview(**given):
    return drawn("overview/page.html", page=make_overview_page(**given))


PAGES = {
    "overview": overview,
    "empty overview": lambda: drawn("overview/page.html", page=make_empty_page()),
    "setup": lambda: drawn("kit/page.html", page=make_setup_page()),
    "answered setup": lambda: drawn("kit/page.html", page=make_answered_setup_page()),
    "sign-in": lambda: drawn("sign-in/page.html", form=LoginForm()),
    "403": lambda: render_to_string("403.html"),
    "403_csrf": lambda: render_to_string("403_csrf.html"),
    "404": lambda: render_to_string("404.html"),
    "429": lambda: render_to_string("429.html"),
    "503": lambda: render_to_string("503.html"),
    "500": lambda: render_to_string("500.html"),
}
every_page = pytest.mark.parametrize("html", [pytest.param(PAGES[name], id=name) for name in PAGES])


@every_page
def test_nothing_is_inline(html):
    text = html()
    assert not re.search(r"\sstyle=|<style|\son\w+=", text)
    scripts = re.findall(r"<script([^>]*)>", text)
    assert [tag for tag in scripts if " src=" not in tag and "application/json" not in tag] == []


@every_page
def test_nothing_comes_from_another_host(html):
    assert not re.search(r"(src|href|action)=\"(https?:)?//", html())


@every_page
def test_every_id_is_used_once(html):
    ids = Counter(re.findall(r'\sid="([^"]+)"', html()))
    assert [id_ for id_, times in ids.items() if times > 1] == []


@every_page
def test_a_page_has_one_finding_and_one_main_landmark(html):
    text = html()
    assert text.count("<h1>") == 1
    assert text.count("<main") == 1


@every_page
def test_a_picture_is_named_or_left_to_its_text(html):
    pictures = re.findall(r"<svg[^>]*>", html())
    assert [tag for tag in pictures if "aria-hidden" not in tag and "aria-label=" not in tag] == []


def test_overview_puts_the_finding_first_and_in_the_title():
    text = overview()
    finding = "The last 7 days cost $18,210, and 31 % of it was waste."
    assert f"<h1>{finding}</h1>" in text
    assert f"<title>{finding} · Runrate</title>" in text


def test_overview_says_how_its_numbers_came_to_be():
    text = re.sub(r"<[^>]+>", "", overview()).replace("\N{NO-BREAK SPACE}", " ")
    for part in ("Estimated", "97 % of held GPU time observed", "14:00 UTC", "2 hours pending"):
        assert part in text


def test_the_chart_has_its_data_and_its_table():
    text = overview()
    assert 'data-figure="daily-figure"' in text
    assert '<script id="daily-figure" type="application/json">' in text
    assert "Sat 14 November" in text


def test_an_unknown_amount_is_said_in_words_and_never_as_zero():
    text = overview()
    row = text[text.index("Research") : text.index("</tr>", text.index("Research"))]
    assert row.count("not known") == 3
    assert "$0" not in row


def test_what_is_not_known_says_what_to_do():
    text = overview()
    assert "What is not known" in text
    assert '<a href="/setup">Give the pool a rate</a>' in text


def test_without_notices_nothing_claims_to_be_unknown():
    assert "What is not known" not in overview(notices=())


def test_names_from_outside_are_escaped():
    assert "Search &amp; ranking" in overview()


def test_filters_are_a_form_that_needs_no_script():
    text = overview()
    assert '<form class="filters" method="get" action="/"' in text
    assert '<option value="7d" selected>' in text
    assert '<button class="button small without-script" type="submit">Apply</button>' in text


def test_an_empty_overview_teaches_the_first_command():
    text = PAGES["empty overview"]()
    assert '<code id="command-1">make demo</code>' in text
    assert 'data-copy="command-1"' in text
    assert "data-figure" not in text


def test_setup_asks_only_what_waits_for_an_answer():
    asked = PAGES["setup"]()
    assert "12 nodes named by schedulers: which pool, from when?" in asked
    assert asked.count('type="checkbox"') == 12
    answered = PAGES["answered setup"]()
    assert "No open questions" in answered
    assert "<table" not in answered


def test_sign_out_is_a_form_with_its_token():
    text = overview()
    form = text[text.index('<form method="post" action="/sign-out"') :]
    assert "csrfmiddlewaretoken" in form[:200]
