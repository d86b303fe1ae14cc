"""What engines answered: read from their metrics, told by the hour, whatever was restarted."""

import json
import math
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from runrate_agent.serving.engines import Counted, counted_of, reading_of
from runrate_agent.serving.growth import PLAIN, Growth, growth
from runrate_agent.serving.hours import Hours
from runrate_agent.serving.reading import (
    bodies,
)
from tests.agents.engines import (
    INF,
    SGLANG,
    VLLM,
    Exposition,
    count_sglang,
    count_vllm,
)

CONTRACT = Path(__file__).resolve().parent.parent / "contract" / "request_hours.json"
BOOT_MS = 1_795_161_600_000
TEN = 1_795_168_800.0  # 2026-11-20T10:00:00Z
MINUTE = 60.0
ID = ("vllm:n", ())


def grown_since(before: str, after: str, feature: str = "") -> dict[tuple[str, str], Counted]:
    growth_ = Growth(TEN)
    growth_.grown(reading_of(before).series, None)
    return counted_of(growth_.grown(reading_of(after).series, None), feature, "feature")


def rows_of(url: str, service: str, shown: Exposition, *steps) -> list[dict]:
    """The rows that the last of these steps leads to, a minute after the one before."""
    growth_, hours = Growth(TEN), Hours(f"{BOOT_MS} {url}", service)
    growth_.grown(reading_of(shown.text()).series, None)
    rows: list[dict] = []
    for minute, step in enumerate(steps):
        step()
        done = counted_of(growth_.grown(reading_of(shown.text()).series, None), "", "feature")
        hours.add(done, TEN + minute * MINUTE, TEN + (minute + 1) * MINUTE)
        rows = hours.taken()
    return rows


def test_what_the_agent_tells_is_what_the_contract_says() -> None:
    vllm, sglang = Exposition(), Exposition()
    count_vllm(vllm, 7)
    ttft = {0.1: 15, 0.25: 20, INF: 20}
    vllm.observe("vllm:time_to_first_token_seconds", ttft, **VLLM)

    def first() -> None:
        count_vllm(vllm)
        vllm.observe("vllm:time_to_first_token_seconds", {0.1: 15, 0.25: 19, INF: 20}, **VLLM)

    def second() -> None:
        count_vllm(vllm)
        vllm.observe("vllm:time_to_first_token_seconds", {0.1: 15, 0.25: 20, INF: 20}, **VLLM)

    def third(times: int) -> None:
        count_sglang(sglang, "summaries")
        buckets = {1.0: 5, 4.0: 11, INF: 12} if times == 2 else {1.0: 0, 4.0: 0, INF: 0}
        asked = SGLANG | {"feature": "summaries"}
        sglang.observe("sglang:e2e_request_latency_seconds", buckets, **asked)
        if times == 2:
            sglang.count("sglang:num_aborted_requests_total", 1, **asked)
            sglang.count("sglang:cached_tokens_total", 4_000, cache_source="device", **asked)

    rows = [
        *rows_of("http://127.0.0.1:8000/metrics", "answer-box", vllm, first, second),
        *rows_of(
            "http://127.0.0.1:30000/metrics",
            "chat",
            sglang,
            *(lambda times=times: third(times) for times in range(3)),
        ),
    ]
    told = [json.loads(body) for body in bodies(rows)]
    assert told == [json.loads(CONTRACT.read_text())]


def test_old_names_of_vllm_are_understood_and_what_is_not_told_is_not_nothing() -> None:
    before, after = Exposition(), Exposition()
    for shown, by in ((before, 100), (after, 140)):
        shown.count("vllm:gpu_prefix_cache_hits_total", by, model_name="m")
        shown.count("vllm:prompt_tokens_total", 10 * by, model_name="m")
        shown.count("vllm:gpu_cache_usage_perc", 0.4, model_name="m")
    done = grown_since(before.text(), after.text())
    assert done["", "m"].sums == {"cached_tokens": 40.0, "prompt_tokens": 400.0}
    hours = Hours("a", "s")
    hours.add(done, TEN, TEN + MINUTE)
    (row,) = hours.taken()
    unknown = ("requests", "succeeded", "output_tokens", "latency", "first_token")
    assert [row[name] for name in (*unknown, "prefill_seconds", "decode_seconds")] == [None] * 7
    assert row["split_kind"] == ""


def test_of_the_names_for_cached_tokens_the_newest_counts_alone() -> None:
    shown = Exposition()
    count_vllm(shown)
    before = shown.text()
    count_vllm(shown)
    assert grown_since(before, shown.text())["", "llama-3.1-8b"].sums["cached_tokens"] == 6_000


def test_aborts_and_errors_are_requests_and_no_answers() -> None:
    shown = Exposition()
    count_vllm(shown)
    before = shown.text()
    count_vllm(shown, 3)
    sums = grown_since(before, shown.text())["", "llama-3.1-8b"].sums
    assert (sums["requests"], sums["succeeded"]) == (60, 57)


def test_what_sglang_shows_only_once_it_counted_is_nothing_where_it_is_new_enough() -> None:
    shown = Exposition()
    shown.count("sglang:num_requests_total", 5, model_name="m")
    shown.count("sglang:prompt_tokens_total", 50, model_name="m")
    old = shown.text()
    shown.count("sglang:num_requests_total", 2, model_name="m")
    shown.count("sglang:prompt_tokens_total", 20, model_name="m")
    assert grown_since(old, shown.text())["", "m"].sums == {"requests": 2, "prompt_tokens": 20}
    shown.count("sglang:realtime_tokens_total", 9, mode="decode", model_name="m")
    sums = grown_since(old, shown.text())["", "m"].sums
    assert (sums["succeeded"], sums["cached_tokens"]) == (2, 0)


def test_steps_that_do_both_kinds_of_work_make_the_split_an_estimate() -> None:
    shown = Exposition()
    count_sglang(shown, "ask")
    before = shown.text()
    count_sglang(shown, "ask")
    hours = Hours("a", "s")
    hours.add(grown_since(before, shown.text()), TEN, TEN + MINUTE)
    assert [row["split_kind"] for row in hours.taken()] == ["measured", ""]
    shown.count("sglang:forward_execution_seconds_total", 1.0, category="mixed", **SGLANG)
    hours.add(grown_since(before, shown.text()), TEN, TEN + MINUTE)
    (row, *_) = hours.taken()
    assert (row["split_kind"], row["prefill_seconds"]) == ("estimated", 5.0)


def test_an_endpoint_of_one_feature_tells_all_as_that_feature() -> None:
    shown = Exposition()
    count_sglang(shown, "ask")
    before = shown.text()
    count_sglang(shown, "find")
    assert list(grown_since(before, shown.text(), "search")) == [("search", "qwen3-32b")]
    assert set(grown_since(before, shown.text())) == {
        ("", "qwen3-32b"),
        ("ask", "qwen3-32b"),
        ("find", "qwen3-32b"),
    }


def test_labels_with_quotes_commas_and_braces_are_read_as_they_are() -> None:
    text = 'vllm:prompt_tokens_total{model_name="a\\"b},\\\\c\\nd"} 3\n'
    ((name, labels),) = reading_of(text).series
    assert (name, dict(labels)) == ("vllm:prompt_tokens_total", {"model_name": 'a"b},\\c\nd'})


def test_numbers_that_are_none_are_left_out() -> None:
    text = "vllm:a_total NaN\nvllm:b_total +Inf\nvllm:c_total many\nvllm:d_total\nvllm:e_total 1\n"
    assert [name for name, _ in reading_of(text).series] == ["vllm:e_total"]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("count"), st.integers(0, 50)),
        st.tuples(st.just("restart"), st.just(0)),
        st.tuples(st.just("read"), st.just(0)),
    ),
    max_size=40,
)


@given(st.integers(0, 100), steps)
def test_restarts_give_no_negative_and_lose_no_read_count(
    first: int, life: list[tuple[str, int]]
) -> None:
    reader, value, started, told = Growth(TEN), first, TEN - 100.0, 0.0
    reader.grown({ID: {PLAIN: float(value)}}, started)
    truth, unread = 0, 0
    for clock, (what, by) in enumerate(life):
        if what == "count":
            value, unread = value + by, unread + by
        elif what == "restart":
            # What it did since it was read last dies with it.
            value, unread, started = 0, 0, TEN + 10.0 * (clock + 1)
        else:
            done = reader.grown({ID: {PLAIN: float(value)}}, started).get(ID, {PLAIN: 0.0})
            assert done[PLAIN] >= 0
            told, truth, unread = told + done[PLAIN], truth + unread, 0
    assert told == truth


@given(st.integers(0, 100), steps)
def test_without_a_start_nothing_is_negative_and_nothing_is_made_up(
    first: int, life: list[tuple[str, int]]
) -> None:
    reader, value, told, truth = Growth(TEN), first, 0.0, 0
    reader.grown({ID: {PLAIN: float(value)}}, None)
    for what, by in life:
        if what == "count":
            value, truth = value + by, truth + by
        elif what == "restart":
            value = 0
        else:
            done = reader.grown({ID: {PLAIN: float(value)}}, None)[ID][PLAIN]
            assert done >= 0
            told += done
    assert told <= truth


def test_the_first_reading_of_an_old_process_is_no_work_of_now() -> None:
    assert Growth(TEN).grown({ID: {PLAIN: 9.0}}, TEN - 60) == {}
    assert Growth(TEN).grown({ID: {PLAIN: 9.0}}, None) == {}
    assert Growth(TEN).grown({ID: {PLAIN: 9.0}}, TEN + 60) == {ID: {PLAIN: 9.0}}


def test_a_series_that_appears_later_began_at_nothing_and_one_that_hides_is_remembered() -> None:
    reader, other = Growth(TEN), ("vllm:m", ())
    reader.grown({ID: {PLAIN: 5.0}}, TEN - 60)
    assert reader.grown({ID: {PLAIN: 5.0}, other: {PLAIN: 3.0}}, TEN - 60)[other] == {PLAIN: 3.0}
    assert reader.grown({ID: {PLAIN: 6.0}}, TEN - 60) == {ID: {PLAIN: 1.0}}
    assert reader.grown({other: {PLAIN: 4.0}}, TEN - 60) == {other: {PLAIN: 1.0}}


def test_processes_that_answer_in_turn_at_one_address_are_kept_apart() -> None:
    reader, told = Growth(TEN), []
    for turn in range(3):
        for started, base in ((TEN - 60, 1000.0), (TEN - 50, 50.0)):
            done = reader.grown({ID: {PLAIN: base + turn}}, started)
            told.append(done.get(ID, {}).get(PLAIN))
    assert told == [None, None, 1.0, 1.0, 1.0, 1.0]


def test_a_histogram_that_cannot_have_grown_began_anew() -> None:
    assert growth({1.0: 2.0, INF: 10.0}, {1.0: 3.0, INF: 12.0}) == {1.0: 1.0, INF: 2.0}
    assert growth({1.0: 2.0, INF: 10.0}, {1.0: 4.0, INF: 9.0}) == {1.0: 4.0, INF: 9.0}
    # More within a second than in all: it is another process, of which each bound is larger.
    assert growth({1.0: 2.0, INF: 10.0}, {1.0: 9.0, INF: 12.0}) == {1.0: 9.0, INF: 12.0}


def one(requests: float) -> dict[tuple[str, str], Counted]:
    return {("", "m"): Counted({"requests": requests})}


def test_an_hour_is_told_whole_each_time_and_only_when_it_changed() -> None:
    hours = Hours("a", "s")
    hours.add(one(0), TEN, TEN + MINUTE)
    assert [(row["requests"], row["revision"]) for row in hours.taken()] == [(0, 1)]
    hours.add(one(0), TEN + MINUTE, TEN + 2 * MINUTE)
    assert hours.taken() == []
    hours.add(one(3), TEN + 2 * MINUTE, TEN + 3 * MINUTE)
    hours.add(one(4), TEN + 3 * MINUTE, TEN + 4 * MINUTE)
    assert [(row["requests"], row["revision"]) for row in hours.taken()] == [(7, 2)]


def test_the_reading_at_the_full_hour_belongs_to_the_hour_that_is_over() -> None:
    hours = Hours("a", "s")
    hours.add(one(3), TEN + 59 * MINUTE, TEN + 60 * MINUTE + 0.2)
    hours.add(one(4), TEN + 60 * MINUTE + 0.2, TEN + 61 * MINUTE)
    assert [(row["hour"], row["requests"]) for row in hours.taken()] == [
        ("2026-11-20T10:00:00Z", 3),
        ("2026-11-20T11:00:00Z", 4),
    ]


def test_a_clock_that_is_set_back_takes_nothing_from_an_hour_told_before() -> None:
    hours = Hours("a", "s")
    hours.add(one(5), TEN, TEN + MINUTE)
    hours.taken()
    for later in range(1, 60):
        hours.add(one(1), TEN + later * 3600, TEN + later * 3600 + MINUTE)
    hours.taken()
    hours.add(one(2), TEN, TEN + MINUTE)
    (row,) = hours.taken()
    assert (row["hour"] > "2026-11-20T10:00:00Z", row["requests"]) == (True, 3)


def test_a_part_is_never_more_than_its_whole() -> None:
    hours = Hours("a", "s")
    sums = {"requests": 2.0, "succeeded": -1.0, "prompt_tokens": 10.0, "cached_tokens": 12.0}
    hours.add({("", "m"): Counted(sums)}, TEN, TEN + MINUTE)
    (row,) = hours.taken()
    assert (row["succeeded"], row["cached_tokens"]) == (0, 10)


@given(st.lists(st.integers(0, 20), min_size=3, max_size=3), st.booleans())
def test_a_histogram_keeps_every_request(counts: list[int], has_end: bool) -> None:
    up_to = {0.5: counts[0], 1.0: sum(counts[:2]), math.inf: sum(counts)}
    told = {bound: float(value) for bound, value in up_to.items() if has_end or bound < math.inf}
    hours = Hours("a", "s")
    hours.add({("", ""): Counted(histograms={"latency": told})}, TEN, TEN + MINUTE)
    (row,) = hours.taken()
    expected = {"bounds_seconds": [0.5, 1.0], "counts": counts} if has_end else None
    assert row["latency"] == expected


TOLD_BY_OTHERS = """\
tgi_request_count 9
tgi_request_success{method="generate"} 9
tgi_request_input_length_sum 900
tgi_request_generated_tokens_sum 1800
nv_inference_request_success{model="llama",version="1"} 9
nv_trt_llm_request_metrics{model="llama",request_type="active",version="1"} 1
trtllm_request_success_total{model_name="llama",engine_type="trtllm",finished_reason="stop"} 9
dynamo_frontend_requests_total{model="llama",endpoint="chat_completions",status="success"} 9
llamacpp:prompt_tokens_total 900
llamacpp:tokens_predicted_total 1800
"""


def test_engines_that_are_not_understood_are_named_and_count_nothing() -> None:
    reading = reading_of(TOLD_BY_OTHERS)
    assert reading.others == ("Dynamo", "TGI", "TensorRT-LLM", "Triton", "llama.cpp")
    assert reading.series == {}
    both = reading_of(TOLD_BY_OTHERS + 'vllm:prompt_tokens_total{model_name="m"} 5\n')
    assert (both.engines, "TGI" in both.others) == (("vllm",), True)


def pooled(role: str) -> dict[str, float]:
    shown = Exposition()
    count_vllm(shown)
    before = shown.text()
    count_vllm(shown)
    growth_ = Growth(TEN)
    growth_.grown(reading_of(before).series, None)
    grown = growth_.grown(reading_of(shown.text()).series, None)
    done = counted_of(grown, "", "feature", role)
    (counted,) = done.values()
    assert bool(counted.histograms) == (role == "")
    return counted.sums


def test_a_request_through_two_pools_is_counted_once() -> None:
    alone, prefill, decode = pooled(""), pooled("prefill"), pooled("decode")
    for name, value in alone.items():
        assert prefill[name] + decode[name] == value, name
    assert prefill["requests"] == 0 < decode["requests"]
    assert decode["prompt_tokens"] == 0 < prefill["prompt_tokens"]
