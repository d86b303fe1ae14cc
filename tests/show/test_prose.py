"""Prose: plain on a page, with links and marks in the documentation."""

from apps.show.prose import Code, Emphasis, Link, SeeAlso, markdown, plain_text, prose

WORDS = prose(
    "See ", Link("GPUs", "gpus.md"), SeeAlso("how", "units.md#money"), ", ", Code("a_b"), ", ",
    Emphasis("at least"), " and ", Emphasis("never", "**"), ".",
)  # fmt: skip


def test_a_page_shows_the_words_alone() -> None:
    assert plain_text(WORDS) == "See GPUs, a_b, at least and never."


def test_the_documentation_shows_links_and_marks() -> None:
    assert (
        markdown(WORDS)
        == "See [GPUs](gpus.md) ([how](units.md#money)), `a_b`, *at least* and **never**."
    )


def test_no_prose_is_nothing_either_way() -> None:
    assert plain_text(prose()) == markdown(prose()) == ""
