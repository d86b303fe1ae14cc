"""People search for the field's words: what only Runrate said is gone from all that they read."""

import re
from collections.abc import Mapping

import pytest

from tests.architecture.visible_words import texts

RETIRED: Mapping[str, str] = {
    r"bought (?:no\b|nothing|progress|work)|\b(?:it|each|they|dollar) bought\b": "waste, its part",
    r"\banswered nothing\b": "no requests",
    r"\bno progress\b": "not productive",
    r"\bworked\b": "active, SM active",
    r"\bdearest\b": "highest",
    r"\btold\b|\btells? nothing\b|\bnobody tells\b": "reported",
    r"\bliving\b": "in service",
    r"(?:^|\| )Standing(?: \||$)": "node status, rate status, plan status, close status",
    r"\bunwell\b": "unhealthy",
    r"\black GPUs\b": "missing GPUs",
    r"\bholds? something back\b": "backlogged",
    r"\blet in\b": "enrolled",
    r"\bneeds? somebody\b": "needs attention",
    r"\bsilence (?:never|does not|ends)\b": "silent nodes keep accruing cost",
    r"\bof no workload\b": "no workload",
    r"\bnobody held\b|\bheld by nobody\b": "not held by a job",
    r"\bbeside machines\b": "non-compute charges",
    r"\bno node carries\b": "charges not tied to a node",
    r"\bsend a bill\b": "upload a bill",
    r"\bdeliver(?:y|ies)\b": "bill import",
    r"\ball in this file\b": "file covers the whole billing period",
    r"\bshare a cost\b": "add a shared cost",
    r"\bteams carr(?:y|ied)\b|\bcarried by\b|\bwho carries\b": "allocated to, charged to",
    r"\bstands? open\b": "open, can be waived",
    r"\bc(?:a|o)mes? late\b": "late-arriving",
    r"\blet the most go\b": "most waste",
    r"\bfrom (?:the )?queue to\b": "queue wait",
    r"\bnine (?:times )?in ten\b": "p90, 90 % interval",
    r"\bturned away\b": "errors (429/5xx)",
    r"\bshut off\b": "retirement date",
    r"\bwithout a price on top\b": "plus unpriced calls",
    r"\bpromised nothing\b": "no SLO set",
    r"\bfurther notice\b": "open-ended",
    r"\bthe same as a table\b": "view as table",
    r"\bkeep this\b": "save",
    r"\bmake the (?:link|file)\b": "create",
    r"\bfive numbers\b": "key metrics",
    r"(?<!`)\butilisation\b": "utilization",
    r"\boffer by offer\b": "recommended purchases",
    r"\bno choice costs less\b": "optimal among the offers considered",
    r"\bas things are going\b": "at forecast",
    r"\berred together\b": "errors assumed correlated",
    r"\beight of ten cases\b": "80 % interval",
    r"\bworkers? fell silent\b": "worker lost",
    r"\bcheaper for good\b": "break-even volume",
    r"\blikeliest inputs\b": "base case",
    r"\beven part of the budget\b": "pro-rated budget",
    r"\bfixes return\b": "reclaimable GPUs",
    r"\bto be claimed\b": "open",
}
"""What may not be read any more, capitals aside, and what is said instead (docs/concepts/units.md)."""

EXCEPTIONS: Mapping[str, str] = {
    "CHANGELOG.md": "says what the phrases have become",
    "apps/ledger/actions/sharing.py": "stored with each charge: settled hours keep their text",
    "apps/ledger/solvers/api_pricing.py": "stored with each call: priced calls keep their text",
    "apps/providers/aws/exports.py": "AWS delivers files: the word is AWS’s",
    "apps/workloads/models/reports.py": "the label of a choice, written in a migration; no page shows it",
    "docs/decisions/0147-the-fields-words-first.md": "quotes what is not said any more",
    "docs/guides/shared-costs.md": "quotes the text that is stored with a charge",
}


ANY_RETIRED = re.compile("|".join(RETIRED), re.IGNORECASE)


def retired_in(text: str) -> list[str]:
    """Each retired phrase of a text, as it stands there, with what is said instead."""
    if not ANY_RETIRED.search(text):
        return []
    return [
        f"{found.group().strip(' |')!r}: say {instead}"
        for phrase, instead in RETIRED.items()
        for found in re.finditer(phrase, text, re.IGNORECASE)
    ]


def test_nothing_but_the_exceptions_says_a_retired_phrase_and_each_exception_does() -> None:
    found = {(path, said) for path, text in texts() for said in retired_in(text)}

    assert sorted(each for each in found if each[0] not in EXCEPTIONS) == []
    assert {path for path, _ in found} == EXCEPTIONS.keys()


@pytest.mark.parametrize(
    "text",
    [
        "The dearest day was Monday.",
        "Nobody told of it",
        "| Standing |",
        "Held by nobody",
        "UNWELL",
    ],
)
def test_a_retired_phrase_is_found_wherever_it_stands(text: str) -> None:
    assert retired_in(text)


def test_the_glossary_has_the_words_that_are_said_instead() -> None:
    words = {path: text.lower() for path, text in texts()}["docs/concepts/units.md"]
    parts = ("idle while allocated", "unallocated", "stranded", "out of service",
             "failed or redone", "no requests", "not held by a job", "no workload",
             "lost to stragglers", "allocation of shared cost")  # fmt: skip

    assert [part for part in parts if part not in words] == []
