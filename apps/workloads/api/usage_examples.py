"""Examples of calls to model APIs for the OpenAPI document; they are run."""

from drf_spectacular.utils import OpenApiExample

from apps.web.rest.examples import answered, sent

_TAKEN = {"accepted": 1, "new": 1, "errors": [], "remarks": []}

EVENTS = sent(
    "A response of the OpenAI API, and counts alone",
    {
        "events": [
            {
                "vendor": "openai",
                "feature": "search",
                "team": "Research",
                "response": {
                    "id": "chatcmpl-1",
                    "created": 1772452800,
                    "model": "gpt-4.1-2025-04-14",
                    "usage": {
                        "prompt_tokens": 1200,
                        "prompt_tokens_details": {"cached_tokens": 1000},
                        "completion_tokens": 80,
                    },
                },
            },
            {
                "vendor": "anthropic",
                "model": "claude-sonnet-4-5",
                "key": "msg-7",
                "at": "2026-03-02T12:00:00Z",
                "tier": "batch",
                "usage": {"input_tokens": 900, "cache_read_tokens": 400, "output_tokens": 50},
            },
        ]
    },
)
EVENTS_TAKEN = answered("Taken", _TAKEN | {"accepted": 2, "new": 2})
LITELLM = OpenApiExample(
    "LiteLLM",
    [
        {
            "id": "chatcmpl-9",
            "status": "success",
            "model": "gpt-4.1-mini",
            "custom_llm_provider": "openai",
            "prompt_tokens": 300,
            "completion_tokens": 20,
            "startTime": 1772452800.0,
            "endTime": 1772452801.5,
            "request_tags": ["feature:search"],
            "metadata": {"user_api_key_team_alias": "Research"},
        }
    ],
    request_only=True,
)
LITELLM_TAKEN = answered("Taken from LiteLLM", _TAKEN)
SPANS = sent(
    "Spans",
    {
        "resourceSpans": [
            {
                "resource": {
                    "attributes": [{"key": "service.name", "value": {"stringValue": "search"}}]
                },
                "scopeSpans": [
                    {
                        "spans": [
                            {
                                "traceId": "5b8efff798038103d269b633813fc60c",
                                "spanId": "eee19b7ec3c1b174",
                                "startTimeUnixNano": "1772452800000000000",
                                "endTimeUnixNano": "1772452801000000000",
                                "attributes": [
                                    {
                                        "key": "gen_ai.provider.name",
                                        "value": {"stringValue": "openai"},
                                    },
                                    {
                                        "key": "gen_ai.request.model",
                                        "value": {"stringValue": "gpt-4.1"},
                                    },
                                    {
                                        "key": "gen_ai.usage.input_tokens",
                                        "value": {"intValue": "120"},
                                    },
                                    {
                                        "key": "gen_ai.usage.output_tokens",
                                        "value": {"intValue": "30"},
                                    },
                                ],
                            }
                        ]
                    }
                ],
            }
        ]
    },
)
SPANS_TAKEN = answered("Spans taken", _TAKEN)
