"""Spans tell of calls in many words: each is read, and what is not understood is said."""

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.economics.vendor_names import TABLE, vendor_named
from apps.workloads.api import set_aside, span_counts
from apps.workloads.api.span_names import (
    ASIDE,
    COUNTS,
    FIELD_OF,
    KINDS,
    WORDS,
    SpanKind,
    Spelling,
)
from apps.workloads.models import SetAsideSpan, UsageEvent
from tests import make
from tests.apps.workloads.test_usage_events import CREATED, DOOR, GEN_AI, send, span, trace

pytestmark = pytest.mark.django_db
OTEL = f"{DOOR}/otel"
TOLD_COLUMNS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cached_tokens",
    "cache_write_tokens": "cache_write_tokens",
    "output_reasoning_tokens": "reasoning_tokens",
}


@pytest.fixture
def client() -> APIClient:
    make.make_organisation()
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {make.make_token('usage').secret}")
    return client


def test_no_name_stands_twice_in_the_tables() -> None:
    names = [each.name for each in (*COUNTS, *WORDS)]
    assert len(set(names)) == len(names)
    assert not set(names) & ASIDE
    aliases = [each.alias for each in TABLE]
    assert len(set(aliases)) == len(aliases)
    assert all(vendor_named(each.vendor) == each.vendor for each in TABLE)


def test_every_spelling_of_a_count_is_read(client: APIClient) -> None:
    spans = [
        span(
            ("gen_ai.operation.name", "chat"),
            ("gen_ai.request.model", "m"),
            (each.name, 77),
            spanId=str(place),
        )
        for place, each in enumerate(COUNTS)
    ]
    answer = send(client, trace(*spans), OTEL)
    assert (answer["accepted"], answer["remarks"]) == (len(COUNTS), [])
    events = {each.key: each for each in UsageEvent.objects.all()}
    for place, spelling in enumerate(COUNTS):
        event = events[f"t/{place}"]
        column = TOLD_COLUMNS.get(spelling.field)
        told = getattr(event, column) if column else event.detail[spelling.field]
        assert told == 77, spelling.name


def test_two_spellings_of_one_count_that_differ_are_refused_with_both_values(
    client: APIClient,
) -> None:
    odd = span(*GEN_AI, ("gen_ai.usage.prompt_tokens", 7))
    same = span(*GEN_AI, ("gen_ai.usage.prompt_tokens", 120), spanId="same")
    answer = send(client, trace(odd, same), OTEL)
    (fault,) = answer["errors"]
    assert "gen_ai.usage.input_tokens is 120, gen_ai.usage.prompt_tokens is 7" in fault["message"]
    assert UsageEvent.objects.get().key == "t/same"


def test_a_count_that_is_not_understood_is_remarked_and_the_call_kept(client: APIClient) -> None:
    answer = send(client, trace(span(*GEN_AI, ("gen_ai.usage.dreamt_tokens", 5))), OTEL)
    (remark,) = answer["remarks"]
    assert (answer["accepted"], remark["field"]) == (1, "gen_ai.usage.dreamt_tokens")
    assert "not priced" in remark["message"]


def test_a_vendors_count_that_is_not_understood_is_remarked(client: APIClient) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 1, "dream": {"rem_tokens": 9, "naps": 0}}
    response = {"id": "r", "created": CREATED, "model": "m", "usage": usage}
    answer = send(client, {"vendor": "openai", "response": response})
    assert [each["field"] for each in answer["remarks"]] == ["dream.rem_tokens"]
    row = {"id": "l", "model": "m", "endTime": float(CREATED), "metadata": {"usage_object": usage}}
    answer = send(client, [row], f"{DOOR}/litellm")
    assert [each["field"] for each in answer["remarks"]] == ["dream.rem_tokens"]


@pytest.mark.parametrize(
    ("attributes", "field"),
    [
        (
            (("gen_ai.operation.name", "dream"), ("gen_ai.request.model", "m")),
            "gen_ai.operation.name=dream",
        ),
        ((("gen_ai.usage.input_tokens", 5),), "model"),
        (
            (("openinference.span.kind", "ORACLE"), ("llm.model_name", "m")),
            "openinference.span.kind=ORACLE",
        ),
    ],
)
def test_a_span_that_looks_like_a_call_and_is_not_understood_is_said(
    client: APIClient, attributes: tuple[tuple[str, Any], ...], field: str
) -> None:
    answer = send(client, trace(span(*attributes)), OTEL)
    assert (answer["accepted"], [each["field"] for each in answer["errors"]]) == (0, [field])
    assert not UsageEvent.objects.exists()


@pytest.mark.parametrize("attribute", KINDS)
def test_what_only_holds_calls_is_left_aside(client: APIClient, attribute: str) -> None:
    for word, kind in KINDS[attribute].items():
        one = span(
            (attribute, word), ("gen_ai.request.model", "m"), ("gen_ai.usage.input_tokens", 5)
        )
        answer = send(client, trace(one), OTEL)
        assert answer["errors"] == []
        assert answer["accepted"] == (kind is SpanKind.CALL), word
        UsageEvent.objects.all().delete()


def counted_keys() -> set[str]:
    return set(UsageEvent.objects.filter(is_counted=True).values_list("key", flat=True))


def test_a_frameworks_span_and_its_clients_are_one_call_in_any_order(client: APIClient) -> None:
    outer = span(*GEN_AI, spanId="outer")
    between = span(("http.method", "POST"), spanId="between", parentSpanId="outer")
    inner = span(*GEN_AI, spanId="inner", parentSpanId="between")
    send(client, trace(inner, between), OTEL)
    send(client, trace(outer), OTEL)
    assert counted_keys() == {"t/inner"}
    UsageEvent.objects.all().delete()
    send(client, trace(outer, between, inner), OTEL)
    assert counted_keys() == {"t/inner"}
    UsageEvent.objects.all().delete()
    for part in (span(*GEN_AI, spanId="inner", parentSpanId="outer"), outer):
        send(client, trace(part), OTEL)
    assert counted_keys() == {"t/inner"}


def test_a_loop_is_no_call_and_each_it_holds_is_one(client: APIClient) -> None:
    send(client, trace(span(*GEN_AI, spanId="1", parentSpanId="loop")), OTEL)
    send(client, trace(span(*GEN_AI, spanId="loop")), OTEL)
    assert counted_keys() == {"t/1"}
    send(client, trace(span(*GEN_AI, spanId="2", parentSpanId="loop")), OTEL)
    assert counted_keys() == {"t/1", "t/2"}


def of_response(span_id: str, output: int | None, **given: Any) -> dict[str, Any]:
    counts = (
        ()
        if output is None
        else (("gen_ai.usage.input_tokens", 9), ("gen_ai.usage.output_tokens", output))
    )
    return span(
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.request.model", "m"),
        ("gen_ai.response.id", "resp"),
        *counts,
        spanId=span_id,
        **given,
    )


def test_of_two_spans_of_a_response_the_richer_counts_and_the_difference_is_said(
    client: APIClient,
) -> None:
    send(client, trace(of_response("a", None)), OTEL)
    assert send(client, trace(of_response("b", 1)), OTEL)["remarks"] == []
    assert counted_keys() == {"t/b"}
    (remark,) = send(client, trace(of_response("c", 5_000)), OTEL)["remarks"]
    assert counted_keys() == {"t/c"}
    assert remark["field"] == "output_tokens"
    assert "5000 is taken, another says 1" in remark["message"]


@pytest.mark.parametrize("prefix", ["", "gen_ai."])
def test_a_tier_that_was_asked_for_is_taken_where_the_answer_says_none(
    client: APIClient, prefix: str
) -> None:
    asked = (f"{prefix}openai.request.service_tier", "flex")
    answered = (f"{prefix}openai.response.service_tier", "priority")
    send(client, trace(span(*GEN_AI, asked, spanId="asked")), OTEL)
    send(client, trace(span(*GEN_AI, asked, answered, spanId="answered")), OTEL)
    assert dict(UsageEvent.objects.values_list("key", "tier")) == {
        "t/asked": "flex",
        "t/answered": "priority",
    }


@pytest.mark.parametrize("in_one_body", [True, False])
def test_of_two_statements_under_one_key_the_richer_counts(
    client: APIClient, in_one_body: bool
) -> None:
    def told(output: int) -> dict[str, Any]:
        usage = {"prompt_tokens": 9, "completion_tokens": output}
        return {
            "vendor": "openai",
            "response": {"id": "r", "created": CREATED, "model": "m", "usage": usage},
        }

    bodies = [told(1), told(5_000), told(2)]
    answers = [send(client, body) for body in ([bodies] if in_one_body else bodies)]
    assert UsageEvent.objects.get().output_tokens == 5_000
    assert sum(answer["new"] for answer in answers) == 1
    assert any(
        "5000 is taken" in each["message"] for answer in answers for each in answer["remarks"]
    )


def test_what_a_gateway_or_an_sdk_says_it_cost_is_kept_beside(client: APIClient) -> None:
    send(client, trace(span(*GEN_AI, ("operation.cost", "0.0123"))), OTEL)
    row = {"id": "l", "model": "m", "endTime": float(CREATED), "response_cost": 0.25}
    send(client, [json.loads(json.dumps(row))], f"{DOOR}/litellm")
    stated = UsageEvent.objects.order_by("key").values_list("stated_cost", flat=True)
    assert [float(each) for each in stated if each is not None] == [0.25, 0.0123]


def test_what_was_not_understood_is_read_again_when_the_table_has_grown(
    client: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A span of an unknown operation, and a count of an unknown name, told before an upgrade."""
    odd = span(
        ("gen_ai.operation.name", "dream"),
        ("gen_ai.request.model", "m"),
        ("gen_ai.usage.input_tokens", 7),
        ("gen_ai.prompt", "the-canary-sings"),
        spanId="odd",
    )
    partly = span(*GEN_AI, ("gen_ai.usage.dreamt_tokens", 5), spanId="partly")
    send(client, trace(odd, partly), OTEL)
    assert set(UsageEvent.objects.values_list("key", flat=True)) == {"t/partly"}
    assert SetAsideSpan.objects.count() == 2
    assert "canary" not in str(list(SetAsideSpan.objects.values()))
    send(client, trace(span(*GEN_AI, spanId="later")), OTEL)
    assert SetAsideSpan.objects.count() == 2

    kinds = {**KINDS["gen_ai.operation.name"], "dream": SpanKind.CALL}
    monkeypatch.setitem(KINDS, "gen_ai.operation.name", kinds)
    grown = Spelling("input_audio_tokens", "gen_ai.usage.dreamt_tokens", "a newer SDK")
    monkeypatch.setattr(span_counts, "COUNTS", (*COUNTS, grown))
    monkeypatch.setitem(FIELD_OF, grown.name, grown.field)
    monkeypatch.setattr(set_aside, "TABLE_VERSION", "the next")
    send(client, trace(span(*GEN_AI, spanId="latest")), OTEL)

    assert not SetAsideSpan.objects.exists()
    calls = {each.key: each for each in UsageEvent.objects.all()}
    assert calls["t/odd"].input_tokens == 7
    assert calls["t/partly"].detail == {"input_audio_tokens": 5}
