"""A weekly review says the same in a mail, as text, on paper and as CSV, and a mail of any size is small."""

import csv
import io
import re
from dataclasses import replace
from decimal import Decimal

import pytest
from pypdf import PdfReader

from apps.review.queries.weekly.content import WeeklyContent, WeekVariance
from apps.review.queries.weekly.content_to_do import ProvenSaving
from apps.review.queries.weekly.narrowed import narrowed
from apps.review.queries.weekly.paper import review_cautions, review_document
from apps.review.queries.weekly.paper_mail import mailed_review, printed_review
from apps.review.queries.weekly.paper_tables import proven_sum
from apps.review.queries.weekly.review_words import SECTIONS
from apps.show.document import DocumentTable, OutgoingDocument, csv_of_table
from apps.show.document.pdf import document_pdf
from apps.show.money import GAP, full_amount, short_amount
from tests.apps.review.review_papers import paper_of, whole_review
from tests.show.test_document import Markup

CURRENCY = "USD"


@pytest.fixture(scope="module")
def large() -> WeeklyContent:
    return whole_review(2_000)


def table(document: OutgoingDocument, name: str) -> DocumentTable:
    (found,) = [each for each in document.tables if each.name == name]
    return found


def minor_units(text: str) -> int:
    """Of an amount as it is shown."""
    sign = -1 if text.startswith("−") else 1
    return sign * int(re.sub(r"\D", "", text))


def test_a_mail_of_2000_workloads_is_under_100_kb_and_its_rows_add_up(large: WeeklyContent) -> None:
    mailed = mailed_review(paper_of(large))
    assert mailed.size_bytes < 100_000
    workloads = table(mailed.document, "workloads")
    assert len(workloads.rows) > 10
    assert workloads.rest is not None
    assert workloads.total is not None
    assert workloads.rest[0] == f"and {2_000 - len(workloads.rows):,} more workloads"
    shown = [minor_units(full_amount(row[2], CURRENCY)) for row in workloads.rows]
    assert sum(shown) + minor_units(workloads.rest[2]) == minor_units(workloads.total[2])
    known = sum(each.cost.micros or 0 for each in large.workloads)
    assert workloads.total[2] == full_amount(known, CURRENCY)
    assert "cost (20)" in workloads.remark, "those whose cost is not known are counted, not added"


def test_a_mail_stays_small_whatever_names_are(large: WeeklyContent) -> None:
    """Every table gives up rows, until none is left but their sum."""
    long = tuple(replace(each, name="n" * 900) for each in large.workloads)
    mailed = mailed_review(paper_of(replace(large, workloads=long)))
    assert mailed.size_bytes < 100_000
    assert "and 1,9" in mailed.text


def test_text_html_and_pdf_have_the_same_sections_and_sums() -> None:
    content = whole_review(30)
    paper = paper_of(content)
    mailed = mailed_review(paper)
    html = " ".join(Markup(mailed.html).words)
    printed = document_pdf(printed_review(paper), made_at=paper.kept.made_at, more_fonts="")
    sheets = " ".join(page.extract_text() for page in PdfReader(io.BytesIO(printed)).pages)
    for form in (html, mailed.text, sheets):
        flat = " ".join(form.replace(GAP, " ").split())
        assert short_amount(content.cost.micros, CURRENCY) in flat
        assert (
            full_amount(sum(each.cost.micros or 0 for each in content.workloads), CURRENCY) in flat
        )
        assert "$1,234.56" in flat, "what was proven"
        assert "estimated" in flat
        assert all(title.casefold() in flat.casefold() for title in SECTIONS.values())
    assert paper.kept.digest in sheets.replace("\n", "")
    assert set(Markup(mailed.html).attributes["href"]) == set(
        re.findall(r"https://\S+", mailed.text)
    )


def test_what_moved_the_cost_adds_up_as_it_is_shown() -> None:
    content = whole_review(7)
    document = review_document(paper_of(content))
    text = mailed_review(paper_of(content)).text
    start, end = re.search(r"From (\S+) \(the week before\) to\s+(\S+), by", text).groups()  # type: ignore[union-attr]
    (bars,) = [
        block
        for section in document.sections
        for block in section.blocks
        if getattr(block, "title", "").startswith("From")
    ]
    moved = sum(minor_units(bar.text) for bar in bars.bars)  # type: ignore[union-attr]
    assert minor_units(start) + moved == minor_units(end)
    unknown = replace(content, variance=WeekVariance(None, 1))
    assert "is not known" in mailed_review(paper_of(unknown)).text


def test_the_csv_has_every_workload_exactly(large: WeeklyContent) -> None:
    document = review_document(paper_of(large))
    rows = list(
        csv.DictReader(io.StringIO(csv_of_table(table(document, "workloads"), document.locale)))
    )
    assert len(rows) == 2_000
    assert sum(Decimal(row["cost"] or 0) for row in rows) * 1_000_000 == sum(
        each.cost.micros or 0 for each in large.workloads
    )
    assert rows[96]["cost"] == "", "unknown is nothing, and not 0"
    assert rows[0]["quality_per_dollar"] == ""
    assert {"workload_id", "status", "priced_ratio", "units"} <= set(rows[0])


def test_a_part_has_its_own_teams_alone_and_says_what_it_leaves_out() -> None:
    content = narrowed(whole_review(80), frozenset({3}))
    text = mailed_review(paper_of(content)).text
    assert "model 0002" in text
    assert "model 0003" not in text
    assert "Not known for a part of the organisation." in text


def test_a_part_does_not_say_that_there_are_no_commitments() -> None:
    text = mailed_review(paper_of(narrowed(whole_review(8), frozenset({3})))).text
    assert "No commitments." not in text
    assert text.count("Not known for a part of the organisation.") == 2


def test_against_the_budget_a_week_is_one_difference_and_has_no_causes() -> None:
    content = whole_review(3)
    against = WeekVariance(100_000_000, 150_000_000, {"difference": 50_000_000})
    budgets = replace(content.budgets, week_budget_micros=100_000_000, against_budget=against)
    text = " ".join(mailed_review(paper_of(replace(content, budgets=budgets))).text.split())
    assert "The week’s pro-rated budget was $100; $150 came: +50 %." in text.replace(GAP, " ")
    assert text.count("by cause") == 1, "of the week before alone"


def test_a_part_that_has_nothing_says_that_nothing_is_known() -> None:
    text = mailed_review(paper_of(narrowed(whole_review(8), frozenset()))).text
    assert "Nothing is known yet" in text


def test_a_section_that_is_off_is_left_out_and_links_need_the_site() -> None:
    content = replace(whole_review(3), sections=("workloads", "idle"))
    mailed = mailed_review(paper_of(content, site=""))
    assert "Commitments" not in mailed.text
    assert "http" not in mailed.text
    assert "href" not in mailed.html


def test_proven_is_what_was_verified_and_of_one_done_again_the_newest() -> None:
    def saved(recommendation_id: int, state: str, micros: int) -> ProvenSaving:
        return ProvenSaving(recommendation_id, "It", 1, state, 1, 2, micros, "2026-07-20", "/")

    newest_first = (saved(1, "verified", 5), saved(2, "failed", 70), saved(1, "verified", 8))
    assert proven_sum(newest_first) == 5
    assert proven_sum(newest_first[1:2]) == 0, "measured, and nothing of it proven"
    assert proven_sum(()) is None


def test_the_week_before_is_restated_only_where_the_ledger_has_something_else() -> None:
    content = whole_review(3)
    assert content.previous is not None
    now = content.variance.before_micros or 0
    same = replace(content, previous=replace(content.previous, cost_micros=now))
    assert not any("2026-W29" in each for each in review_cautions(same))
    frozen = now - 12_400_000
    late = replace(content, previous=replace(content.previous, cost_micros=frozen))
    (said,) = (each for each in review_cautions(late) if "2026-W29" in each)
    assert full_amount(now, CURRENCY) in said
    assert full_amount(frozen, CURRENCY) in said
