"""Every bucket of a run's time has words, a colour of its own, and a place in the order."""

from pathlib import Path

import pytest

from apps.economics.run_time import Bucket
from apps.show.run_buckets import BUCKETS, in_order, no_progress, strip_of_buckets

CSS = Path(__file__).resolve().parents[2] / "static" / "css"


@pytest.mark.parametrize("bucket", list(Bucket))
def test_every_bucket_has_words_and_a_colour_of_its_own(bucket):
    words = BUCKETS[bucket]
    assert words.explanation.endswith(".")
    assert f"{words.token}:" in (CSS / "tokens.css").read_text()
    assert (
        f".{words.css_class} {{ color: var({words.token}); }}" in (CSS / "console.css").read_text()
    )


def test_progress_is_listed_first_and_what_is_not_known_last_and_hatched():
    assert next(iter(BUCKETS)) is Bucket.PRODUCTIVE
    assert list(BUCKETS)[-1] is Bucket.UNTOLD
    assert [bucket for bucket, words in BUCKETS.items() if words.is_hatched] == [Bucket.UNTOLD]


def test_what_nobody_told_is_not_counted_as_no_progress():
    spent = {Bucket.PRODUCTIVE: 70, Bucket.LOST: 20, Bucket.UNTOLD: 10}
    assert no_progress(spent) == 20


def test_a_strip_of_buckets_says_what_it_draws():
    strip = strip_of_buckets({Bucket.LOST: 1, Bucket.PRODUCTIVE: 3})
    assert strip is not None
    assert (
        strip.words.replace("\N{NO-BREAK SPACE}", " ") == "Productive 75 % and Lost and redone 25 %"
    )
    assert strip_of_buckets({}) is None


def test_amounts_kept_in_the_order_of_buckets_are_told_by_bucket():
    assert in_order([1, 2, None]) == {Bucket.FAILED: 1, Bucket.LOST: 2}
