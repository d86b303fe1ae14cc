"""Calls to model APIs come in as vendors, gateways and spans tell them; nothing said is kept."""

import gzip
import json
import logging
from itertools import permutations
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from apps.accounts.queries import special_teams
from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from apps.workloads.models import UsageEvent, Workload
from tests import make

pytestmark = pytest.mark.django_db

CANARY = "the-canary-sings-at-dawn"
CREATED = int(make.NOON.timestamp())
DOOR = "/api/v1/usage-events"
HOLDS = 'SELECT count(*) FROM ":table" AS t WHERE t::text LIKE %s'


@pytest.fixture
def team_id() -> int:
    make.make_organisation()
    return make.make_team()


@pytest.fixture
def client(team_id: int) -> APIClient:
    return client_of(team_id=None)


def client_of(team_id: int | None) -> APIClient:
    token = make.make_token("usage", team_id=team_id)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token.secret}")
    return client


def chat(key: str = "chatcmpl-1", **given: Any) -> dict[str, Any]:
    response = {
        "id": key,
        "object": "chat.completion",
        "created": CREATED,
        "model": "gpt-4.1-2025-04-14",
        "choices": [{"message": {"role": "assistant", "content": CANARY}}],
        "usage": {
            "prompt_tokens": 1200,
            "completion_tokens": 80,
            "total_tokens": 1280,
            "prompt_tokens_details": {"cached_tokens": 1000, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 30},
        },
    }
    return {"vendor": "openai", "response": response} | given


def send(client: APIClient, body: Any, door: str = DOOR, **given: Any) -> Any:
    answer = client.post(door, body, format="json", **given)
    assert answer.status_code == 200, answer.content
    return answer.json()


def the_call() -> UsageEvent:
    return UsageEvent.objects.get()


def test_a_chat_completion_is_counted_as_it_came(client: APIClient, team_id: int) -> None:
    assert send(client, chat(feature="search", team="Research")) == {
        "accepted": 1,
        "new": 1,
        "errors": [],
        "remarks": [],
    }
    call = the_call()
    assert (call.vendor, call.model, call.key, call.at) == (
        "openai",
        "gpt-4.1-2025-04-14",
        "chatcmpl-1",
        make.NOON,
    )
    assert (call.input_tokens, call.cached_tokens, call.output_tokens) == (1200, 1000, 80)
    assert (call.reasoning_tokens, call.detail) == (30, {})
    assert (call.team_id, call.feature, call.outcome) == (team_id, "search", "ok")


def test_an_openai_response_says_its_tier(client: APIClient) -> None:
    response = {
        "id": "resp-1",
        "created_at": CREATED,
        "model": "gpt-5",
        "service_tier": "flex",
        "output": [{"content": CANARY}],
        "usage": {
            "input_tokens": 50,
            "input_tokens_details": {"cached_tokens": 20},
            "output_tokens": 9,
            "output_tokens_details": {"reasoning_tokens": 4},
        },
    }
    send(client, {"vendor": "openai", "response": response})
    call = the_call()
    assert (call.tier, call.input_tokens, call.cached_tokens) == ("flex", 50, 20)
    assert (call.output_tokens, call.reasoning_tokens) == (9, 4)


def test_anthropics_cached_tokens_are_put_to_the_input(client: APIClient) -> None:
    response = {
        "id": "msg-1",
        "model": "claude-sonnet-4-5-20250929",
        "content": [{"text": CANARY}],
        "usage": {
            "input_tokens": 10,
            "cache_read_input_tokens": 400,
            "cache_creation_input_tokens": 90,
            "cache_creation": {"ephemeral_5m_input_tokens": 40, "ephemeral_1h_input_tokens": 50},
            "output_tokens": 7,
            "server_tool_use": {"web_search_requests": 2},
            "service_tier": "standard",
        },
    }
    send(client, {"vendor": "Anthropic", "at": "2026-03-02T12:00:00Z", "response": response})
    call = the_call()
    assert (call.vendor, call.tier) == ("anthropic", "")
    assert (call.input_tokens, call.cached_tokens, call.cache_write_tokens) == (500, 400, 90)
    assert call.detail == {
        "cache_write_5m_tokens": 40,
        "cache_write_1h_tokens": 50,
        "web_searches": 2,
    }


def test_geminis_thoughts_are_put_to_the_output(client: APIClient) -> None:
    response = {
        "responseId": "g-1",
        "modelVersion": "gemini-2.5-flash",
        "createTime": "2026-03-02T12:00:00Z",
        "candidates": [{"content": CANARY}],
        "usageMetadata": {
            "promptTokenCount": 100,
            "cachedContentTokenCount": 30,
            "candidatesTokenCount": 20,
            "thoughtsTokenCount": 5,
            "trafficType": "ON_DEMAND",
            "promptTokensDetails": [
                {"modality": "TEXT", "tokenCount": 60},
                {"modality": "AUDIO", "tokenCount": 40},
            ],
        },
    }
    send(client, {"vendor": "gemini", "response": response})
    call = the_call()
    assert (call.vendor, call.model, call.tier) == ("google", "gemini-2.5-flash", "")
    assert (call.input_tokens, call.output_tokens, call.reasoning_tokens) == (100, 25, 5)
    assert call.detail == {"input_text_tokens": 60, "input_audio_tokens": 40}


def test_bedrocks_converse_is_counted(client: APIClient) -> None:
    usage = {
        "inputTokens": 10,
        "cacheReadInputTokens": 5,
        "cacheWriteInputTokens": 3,
        "outputTokens": 2,
        "cacheDetails": [{"ttl": "5m", "inputTokens": 3}],
    }
    send(
        client,
        {
            "vendor": "bedrock",
            "model": "anthropic.claude-sonnet-4-5",
            "key": "b-1",
            "at": CREATED,
            "response": {"output": {"message": CANARY}, "usage": usage},
        },
    )
    call = the_call()
    assert (call.vendor, call.input_tokens, call.cached_tokens) == ("aws", 18, 5)
    assert call.detail == {"cache_write_5m_tokens": 3}


def test_xais_reasoning_is_put_to_the_output(client: APIClient) -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 3,
        "completion_tokens_details": {"reasoning_tokens": 40},
    }
    response = {"id": "x", "created": CREATED, "model": "grok-4", "usage": usage}
    send(client, {"vendor": "xai", "response": response})
    assert (the_call().output_tokens, the_call().reasoning_tokens) == (43, 40)


def test_the_same_call_is_told_once_however_often_it_comes(client: APIClient) -> None:
    first = send(client, [chat("a"), chat("b"), chat("a")])
    again = send(client, {"events": [chat("b"), chat("c")]})
    assert (first["accepted"], first["new"]) == (3, 2)
    assert (again["accepted"], again["new"]) == (2, 1)
    assert UsageEvent.objects.count() == 3


def test_the_hour_of_a_new_call_waits_to_be_priced(client: APIClient) -> None:
    send(client, chat())
    marks = ChangedHour.objects.filter(pass_id=Pass.CALLS).values_list("hour", "unit")
    assert list(marks) == [(make.NOON, 0)]
    ChangedHour.objects.all().delete()
    send(client, chat())
    assert not ChangedHour.objects.filter(pass_id=Pass.CALLS).exists()


def test_bad_rows_are_named_and_the_good_ones_kept(client: APIClient) -> None:
    without_id = chat()
    del without_id["response"]["id"]
    answer = send(
        client,
        [
            chat("good"),
            without_id,
            chat("b", team="Nobody"),
            chat("c", workload="nothing"),
            chat("d", prompt="hello"),
            {"vendor": "openai", "key": "e", "at": CREATED, "usage": {"tokens": 1}, "model": "m"},
            chat("f", at="2999-01-01T00:00:00Z"),
            chat("g", at="0001-01-01T00:00:00+10:00"),
        ],
    )
    assert answer["accepted"] == 1
    assert [(each["row"], each["field"]) for each in answer["errors"]] == [
        (1, "key"),
        (2, "team"),
        (3, "workload"),
        (4, "prompt"),
        (5, "usage"),
        (6, "at"),
        (7, "at"),
    ]
    assert UsageEvent.objects.get().key == "good"


def test_a_teams_token_tells_of_its_own_team_alone(client: APIClient, team_id: int) -> None:
    make.make_team("Vision")
    own = client_of(team_id)
    assert send(own, chat("a"))["errors"] == []
    assert send(own, chat("b", team="Vision"))["errors"][0]["field"] == "team"
    assert the_call().team_id == team_id


def test_one_team_cannot_take_the_keys_of_another(client: APIClient, team_id: int) -> None:
    other = make.make_team("Vision")
    assert send(client_of(team_id), chat("a"))["new"] == 1
    assert send(client_of(other), chat("a"))["new"] == 1


def test_what_nobody_names_is_unowneds(client: APIClient) -> None:
    send(client, chat())
    assert the_call().team_id == special_teams().unowned_id


def test_a_workload_is_found_by_its_name_in_the_team(client: APIClient, team_id: int) -> None:
    workload = Workload.objects.create(name="search", team_id=team_id, kind="serving")
    send(client, chat(team="Research", workload="search"))
    assert the_call().workload_id == workload.id


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(200, "ok"), (429, "rate_limited"), (503, "server_error"), (400, "refused")],
)
def test_an_http_status_is_kept_as_the_outcome(
    client: APIClient, status: int, outcome: str
) -> None:
    send(client, {"vendor": "openai", "model": "m", "key": "k", "at": CREATED, "status": status})
    assert (the_call().outcome, the_call().input_tokens) == (outcome, None)


def payload(key: str = "l-1", **given: Any) -> dict[str, Any]:
    told = {
        "id": key,
        "litellm_call_id": f"call-{key}",
        "status": "success",
        "model": "anthropic/claude-sonnet-4-5",
        "custom_llm_provider": "anthropic",
        "prompt_tokens": 500,
        "completion_tokens": 7,
        "startTime": CREATED - 1.5,
        "endTime": float(CREATED),
        "messages": [{"role": "user", "content": CANARY}],
        "response": {"choices": [{"message": {"content": CANARY}}]},
        "request_tags": ["feature:search", "User-Agent: x"],
        "metadata": {
            "user_api_key_team_alias": "Research",
            "usage_object": {"cache_read_input_tokens": 400, "cache_creation_input_tokens": 90},
        },
    }
    return told | given


def test_a_litellm_batch_is_taken_as_array_lines_or_alone(client: APIClient, team_id: int) -> None:
    door = f"{DOOR}/litellm"
    lines = "\n".join(json.dumps(payload(key)) for key in ("b", "c"))
    assert send(client, [payload("a")], door)["new"] == 1
    sent = client.post(door, lines, content_type="application/x-ndjson")
    assert sent.json()["new"] == 2
    assert send(client, payload("d"), door)["new"] == 1
    assert send(client, [payload(each) for each in "abcd"], door)["new"] == 0
    call = UsageEvent.objects.get(key="a")
    assert (call.vendor, call.model) == ("anthropic", "claude-sonnet-4-5")
    assert (call.input_tokens, call.cached_tokens, call.cache_write_tokens) == (500, 400, 90)
    assert (call.team_id, call.feature, call.latency_seconds) == (team_id, "search", 1.5)


def test_a_litellm_failure_keeps_its_status(client: APIClient) -> None:
    error = {"error_code": "429", "error_message": CANARY}
    send(client, payload(status="failure", error_information=error), f"{DOOR}/litellm")
    assert the_call().outcome == "rate_limited"


def test_what_the_gateways_own_cache_answered_was_not_bought(client: APIClient) -> None:
    send(client, payload(cache_hit=True), f"{DOOR}/litellm")
    assert (the_call().input_tokens, the_call().output_tokens) == (0, 0)


@pytest.mark.parametrize(
    "given",
    [
        {"model": "gpt-4o-mini-tts", "call_type": "aspeech", "response_cost": 0.25},
        {"model": "dall-e-3", "call_type": "aimage_generation", "response_cost": 0.04},
        {"model": "gpt-4o-transcribe", "call_type": "atranscription", "response_cost": 0.06},
        {"model": "gpt-4.1", "call_type": "acompletion", "response_cost": 0.25},
    ],
)
def test_a_gateways_call_of_no_tokens_is_not_known_to_have_used_nothing(
    client: APIClient, given: dict[str, Any]
) -> None:
    nothing = {"prompt_tokens": 0, "completion_tokens": 0, "metadata": {}}
    send(client, payload(custom_llm_provider="openai", **nothing, **given), f"{DOOR}/litellm")
    assert (the_call().input_tokens, the_call().output_tokens) == (None, None)
    assert the_call().stated_cost is not None


def test_a_gateways_unknown_team_is_remarked_and_the_call_kept(client: APIClient) -> None:
    told = payload(metadata={"user_api_key_team_alias": "Nobody"})
    answer = send(client, [told], f"{DOOR}/litellm")
    assert (answer["accepted"], answer["remarks"][0]["field"]) == (1, "team")
    assert the_call().team_id == special_teams().unowned_id


@pytest.mark.parametrize("counted", ["cache_read_input_tokens", "cache_creation_input_tokens"])
def test_a_gateways_count_that_no_call_has_is_refused_and_the_others_kept(
    client: APIClient, counted: str
) -> None:
    rows = [
        payload("many", metadata={"usage_object": {"prompt_tokens": 9, counted: 2**63 - 1}}),
        payload("few", metadata={"usage_object": {"prompt_tokens": 9, counted: 2}}),
    ]
    answer = send(client, rows, f"{DOOR}/litellm")
    assert [(each["row"], each["field"]) for each in answer["errors"]] == [(0, "usage")]
    assert the_call().key == "few"


def span(*attributes: tuple[str, Any], **given: Any) -> dict[str, Any]:
    return {
        "traceId": "t",
        "spanId": "s",
        "startTimeUnixNano": str((CREATED - 2) * 10**9),
        "endTimeUnixNano": str(CREATED * 10**9),
        "attributes": [
            {
                "key": key,
                "value": {"intValue": str(said)}
                if isinstance(said, int)
                else {"stringValue": said},
            }
            for key, said in attributes
        ],
    } | given


def trace(*spans: dict[str, Any]) -> dict[str, Any]:
    service = {"key": "service.name", "value": {"stringValue": "search"}}
    return {
        "resourceSpans": [
            {"resource": {"attributes": [service]}, "scopeSpans": [{"spans": list(spans)}]}
        ]
    }


GEN_AI = (
    ("gen_ai.operation.name", "chat"),
    ("gen_ai.provider.name", "aws.bedrock"),
    ("gen_ai.request.model", "anthropic.claude-sonnet-4-5"),
    ("gen_ai.usage.input_tokens", 120),
    ("gen_ai.usage.cache_read.input_tokens", 20),
    ("gen_ai.usage.output_tokens", 30),
    ("gen_ai.input.messages", CANARY),
)


def test_spans_of_calls_are_taken_and_others_left_aside(client: APIClient) -> None:
    agent = span(("gen_ai.operation.name", "invoke_agent"), ("gen_ai.usage.input_tokens", 9))
    body = trace(span(*GEN_AI), span(("http.method", "GET"), spanId="other"), agent)
    assert send(client, body, f"{DOOR}/otel")["accepted"] == 1
    call = the_call()
    assert (call.vendor, call.key, call.at) == ("aws", "t/s", make.NOON)
    assert (call.input_tokens, call.cached_tokens, call.output_tokens) == (120, 20, 30)
    assert (call.feature, call.latency_seconds) == ("search", 2.0)


def counted(value: dict[str, Any]) -> dict[str, Any]:
    """A call whose count of input tokens is told in this way."""
    call = span(*(each for each in GEN_AI if each[0] != "gen_ai.usage.input_tokens"))
    call["attributes"].append({"key": "gen_ai.usage.input_tokens", "value": value})
    return call


FAULTY: dict[str, tuple[dict[str, Any], str]] = {
    "an end of 30 digits": (span(*GEN_AI, endTimeUnixNano="9" * 30), "endTimeUnixNano"),
    "an end of 400 digits": (span(*GEN_AI, endTimeUnixNano="9" * 400), "endTimeUnixNano"),
    "an end of 20 digits": (span(*GEN_AI, endTimeUnixNano="9" * 20), "at"),
    "a start that is no number": (span(*GEN_AI, startTimeUnixNano="²"), "startTimeUnixNano"),
    "a count of 21 digits": (counted({"intValue": 10**20}), "usage"),
    "a count of 21 digits in text": (counted({"intValue": str(10**20)}), "usage"),
    "a count of 5,000 digits": (counted({"intValue": "9" * 5_000}), "usage"),
    "a huge double": (counted({"doubleValue": 1e300}), "usage"),
    "a count that is no number": (counted({"intValue": "²"}), "usage"),
    "a count that is a list": (counted({"intValue": []}), "intValue"),
}


@pytest.mark.parametrize("faulty", FAULTY)
def test_a_span_that_is_faulty_is_named_and_the_others_kept(client: APIClient, faulty: str) -> None:
    call, field = FAULTY[faulty]
    answer = send(client, trace(call, span(*GEN_AI, spanId="good")), f"{DOOR}/otel")
    assert [(each["row"], each["field"]) for each in answer["errors"]] == [(0, field)]
    assert the_call().key == "t/good"


CODES = {"²": "refused", "5" * 5_000: "refused", "timeout": "refused", "429": "rate_limited"}


@pytest.mark.parametrize("code", CODES, ids=lambda code: code[:8])
def test_an_errors_code_is_a_status_or_just_an_error(client: APIClient, code: str) -> None:
    send(client, trace(span(*GEN_AI, ("error.type", code))), f"{DOOR}/otel")
    failed = payload(status="failure", error_information={"error_code": code})
    send(client, [failed], f"{DOOR}/litellm")
    assert set(UsageEvent.objects.values_list("outcome", flat=True)) == {CODES[code]}


def spend_log(key: str = "l-1", **given: Any) -> dict[str, Any]:
    """A row of LiteLLM_SpendLogs as its database, and `GET /spend/logs`, tell it."""
    metadata = {
        "user_api_key_team_alias": "Research",
        "status": "success",
        "additional_usage_values": {
            "cache_read_input_tokens": 400,
            "cache_creation_input_tokens": 90,
            "prompt_tokens_details": None,
        },
    }
    told = {
        "request_id": key,
        "call_type": "acompletion",
        "api_key": "88dc28d0f030c55ed4ab77ed8faf098196cb1c05df778539800c9f1243fe6b4b",
        "spend": 0.00123,
        "total_tokens": 507,
        "prompt_tokens": 500,
        "completion_tokens": 7,
        "startTime": "2026-03-02T11:59:58.500Z",
        "endTime": "2026-03-02T12:00:00.000Z",
        "completionStartTime": "2026-03-02T11:59:59.100Z",
        "model": "anthropic/claude-sonnet-4-5",
        "model_id": "",
        "model_group": "claude",
        "custom_llm_provider": "anthropic",
        "api_base": "https://api.anthropic.com",
        "user": "default_user_id",
        "metadata": metadata,
        "cache_hit": "False",
        "cache_key": "Cache OFF",
        "request_tags": ["feature:search", "User-Agent: x"],
        "team_id": "1f8b3c",
        "end_user": "",
        "requester_ip_address": None,
        "messages": {"content": CANARY},
        "response": {"content": CANARY},
        "proxy_server_request": {"messages": [CANARY]},
        "session_id": "s",
        "status": "success",
    }
    return told | given


def as_columns(row: dict[str, Any]) -> dict[str, Any]:
    """The row as a dump of the table has it: JSON as text, times of UTC without saying so."""
    texts = {name: json.dumps(row[name]) for name in ("metadata", "request_tags", "response")}
    times = {name: row[name][:-1].replace("T", " ") for name in ("startTime", "endTime")}
    return row | texts | times


@pytest.mark.parametrize("form", ["listed", "page", "dumped"])
def test_a_lost_day_is_reloaded_from_litellms_spend_logs(
    client: APIClient, team_id: int, form: str
) -> None:
    send(client, [payload("a")], f"{DOOR}/litellm")
    rows = [spend_log("a"), spend_log("b")]
    body: Any = {"page": {"data": rows, "total": 2}}.get(form, rows)
    if form == "dumped":
        body = [as_columns(row) for row in rows]

    answer = send(client, body, f"{DOOR}/litellm")

    assert (answer["accepted"], answer["new"], answer["errors"]) == (2, 1, [])
    told, reloaded = UsageEvent.objects.order_by("key")
    same = ("at", "vendor", "model", "team_id", "feature", "latency_seconds", "outcome")
    counts = ("input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens")
    for name in (*same, *counts):
        assert getattr(told, name) == getattr(reloaded, name), name
    assert (reloaded.at, reloaded.cached_tokens) == (make.NOON, 400)


def test_a_failure_in_the_spend_logs_keeps_its_status(client: APIClient) -> None:
    metadata = {"status": "failure", "error_information": {"error_code": "429"}}
    row = spend_log(status="failure", metadata=json.dumps(metadata))
    send(client, [row], f"{DOOR}/litellm")
    assert the_call().outcome == "rate_limited"
    unread = send(client, [spend_log("x", metadata="{")], f"{DOOR}/litellm")
    assert (unread["accepted"], len(unread["errors"])) == (0, 1)


def of_response(client: APIClient, door: str, **given: Any) -> None:
    """Three that tell of response resp-7: a gateway, a span two minutes on, and its receiver."""
    team = given.get("team")
    if door == "otel":
        more = (("gen_ai.response.id", "resp-7"), *([("runrate.team", team)] if team else []))
        late = str((CREATED + 7_200) * 10**9)
        send(client, trace(span(*GEN_AI, *more, endTimeUnixNano=late)), f"{DOOR}/otel")
    elif door == "litellm":
        metadata = {"user_api_key_team_alias": team} if team else {}
        send(client, [payload("resp-7", metadata=metadata)], f"{DOOR}/litellm")
    else:
        send(client, chat("resp-7", **given))


@pytest.mark.parametrize("order", list(permutations(("litellm", "otel", "rest"))))
def test_a_call_that_several_tell_of_is_counted_once_in_any_order(
    client: APIClient, team_id: int, order: tuple[str, ...]
) -> None:
    for door in order:
        ChangedHour.objects.all().delete()
        before = set(UsageEvent.objects.filter(is_counted=True))
        of_response(client, door, **({"team": "Research"} if door == "otel" else {}))
        after = set(UsageEvent.objects.filter(is_counted=True))
        marked = set(ChangedHour.objects.values_list("hour", flat=True))
        assert {each.at.replace(minute=0, second=0) for each in before ^ after} <= marked

    (call,) = UsageEvent.objects.filter(is_counted=True)
    assert (call.source, call.input_tokens, call.team_id) == ("rest:0", 1200, team_id)
    assert UsageEvent.objects.count() == 3


def test_no_teams_token_takes_a_call_from_another_or_from_the_organisations_teller(
    client: APIClient, team_id: int
) -> None:
    other = make.make_team("Vision")
    of_response(client_of(other), "rest")
    of_response(client_of(team_id), "otel")
    assert UsageEvent.objects.filter(is_counted=True).count() == 2

    of_response(client, "litellm", team="Research")

    (call,) = UsageEvent.objects.filter(is_counted=True)
    assert (call.source, call.team_id) == ("litellm:0", team_id)


def test_calls_without_a_response_id_are_never_taken_for_one(client: APIClient) -> None:
    send(client, trace(span(*GEN_AI), span(*GEN_AI, spanId="other")), f"{DOOR}/otel")
    counted = {"vendor": "openai", "model": "m", "at": CREATED, "usage": {"input_tokens": 1}}
    send(client, [counted | {"key": "t/s"}, counted | {"key": "u"}])
    assert UsageEvent.objects.filter(is_counted=True).count() == 4


def test_spans_may_come_gzipped(client: APIClient) -> None:
    body = gzip.compress(json.dumps(trace(span(*GEN_AI))).encode())
    answer = client.post(
        f"{DOOR}/otel", body, content_type="application/json", HTTP_CONTENT_ENCODING="gzip"
    )
    assert answer.json()["new"] == 1


def test_nothing_that_was_asked_or_answered_is_kept_anywhere(
    client: APIClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    send(client, [chat("a"), chat("bad", team=None, workload="nothing", prompt=None)])
    send(client, [payload()], f"{DOOR}/litellm")
    send(client, trace(span(*GEN_AI)), f"{DOOR}/otel")
    assert UsageEvent.objects.count() == 3
    assert CANARY not in caplog.text
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        tables = [name for (name,) in cursor.fetchall()]
        for table in tables:
            cursor.execute(HOLDS.replace(":table", table), [f"%{CANARY}%"])
            assert cursor.fetchone() == (0,), table


def test_a_body_that_is_no_json_is_refused(client: APIClient) -> None:
    answer = client.post(DOOR, b"{", content_type="application/json")
    assert answer.status_code == 400
    assert client.post(DOOR, b"x", content_type="text/csv").status_code == 415


def test_a_token_that_reads_may_not_tell(team_id: int) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {make.make_token('read').secret}")
    assert client.post(DOOR, chat(), format="json").status_code == 403
