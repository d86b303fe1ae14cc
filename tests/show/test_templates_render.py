"""Pages outside of any question are well made too: errors, sign-in, and Setup drawn from its values."""

import pytest
from allauth.account.forms import LoginForm
from django.template.loader import render_to_string
from django.test import RequestFactory

from tests.markup import faults_of
from tests.show.sample_pages import (
    make_answered_setup_page,
    make_setup_page,
)


def drawn(template, **context):
    return render_to_string(template, context, request=RequestFactory().get("/"))


PAGES = {
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
def test_a_page_is_well_made(html):
    assert faults_of(html()) == []


def test_setup_asks_only_what_waits_for_an_answer():
    asked = PAGES["setup"]()
    assert "12 nodes named by schedulers: which pool, from when?" in asked
    assert asked.count('type="checkbox"') == 13
    answered = PAGES["answered setup"]()
    assert "No open questions" in answered
    assert "<table" not in answered


def test_sign_out_is_a_form_with_its_token():
    text = PAGES["setup"]()
    form = text[text.index('<form method="post" action="/sign-out"') :]
    assert "csrfmiddlewaretoken" in form[:200]
