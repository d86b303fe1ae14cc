"""What the counters of vLLM and SGLang mean, by their old names and their new ones."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from runrate_agent.compat import SLOTS
from runrate_agent.prometheus import samples_in
from runrate_agent.serving.growth import PLAIN, Identity

START = "process_start_time_seconds"
OTHERS = {
    "tgi_": "TGI",
    "nv_inference_": "Triton",
    "nv_trt_llm_": "Triton",
    "trtllm_": "TensorRT-LLM",
    "dynamo_": "Dynamo",
    "llamacpp:": "llama.cpp",
    "lmdeploy:": "LMDeploy",
    "ray_serve_": "Ray Serve",
    "ray_vllm_": "vLLM within Ray Serve",
    "aibrix:": "AIBrix",
}
"""What names of metrics begin with of engines whose counts are not understood here."""
NAMED = re.compile(rf"(?:vllm|sglang)[:_]|{START}\b|" + "|".join(map(re.escape, OTHERS)))
ENGINE = re.compile(r"(vllm|sglang)[:_](\w+)")
SUCCESS = frozenset({"stop", "length", "repetition"})
"""Finished reasons of vLLM that are answers; its request_success counts aborts and errors too."""
COUNTERS = {
    "vllm": {
        "prompt_tokens_total": "prompt_tokens",
        "generation_tokens_total": "output_tokens",
        "request_prefill_time_seconds_sum": "prefill_seconds",
        "request_decode_time_seconds_sum": "decode_seconds",
    },
    "sglang": {
        "num_requests_total": "requests",
        "num_aborted_requests_total": "aborted",
        "prompt_tokens_total": "prompt_tokens",
        "cached_tokens_total": "cached_tokens",
        "generation_tokens_total": "output_tokens",
    },
}
CACHED = (
    ("prompt_tokens_cached_total",),
    ("prefix_cache_hits_total", "external_prefix_cache_hits_total"),
    ("gpu_prefix_cache_hits_total",),
)
"""Where vLLM told of cached tokens, the newest first: one of them counts."""
HISTOGRAMS = {
    "e2e_request_latency_seconds_bucket": "latency",
    "time_to_first_token_seconds_bucket": "first_token",
}
WORKED = frozenset({"forward_execution_seconds_total", "gpu_execution_seconds_total"})
"""GPU time of SGLang by the kind of work; the second is what it was called at first."""
PREFILL = frozenset({"extend", "mixed"})
DECODE = frozenset({"decode", "target_verify", "draft_extend", "draft_extend_v2"})
# SGLang shows these only once they counted something. An engine that tells of its GPU time or of
# realtime_tokens is newer than they are: what it does not show is 0.
LAZY = {"aborted": "requests", "cached_tokens": "prompt_tokens"}
NEWER = WORKED | {"realtime_tokens_total"}

Group = tuple[str, str]
"""Feature and model."""


@dataclass(**SLOTS)
class Counted:
    """What one group was told to have done: absent is not told, 0 is."""

    sums: dict[str, float] = field(default_factory=dict)
    histograms: dict[str, dict[float, float]] = field(default_factory=dict)
    is_measured: bool = False
    is_mixed: bool = False

    def add(self, other: Counted) -> None:
        """Take another reading to it."""
        for name, value in other.sums.items():
            self.sums[name] = self.sums.get(name, 0.0) + value
        for name, buckets in other.histograms.items():
            own = self.histograms.setdefault(name, {})
            for bound, count in buckets.items():
                own[bound] = own.get(bound, 0.0) + count
        self.is_measured |= other.is_measured
        self.is_mixed |= other.is_mixed

    @property
    def is_moved(self) -> bool:
        """Whether anything was done."""
        buckets = (count for each in self.histograms.values() for count in each.values())
        return any(self.sums.values()) or any(buckets)


@dataclass(frozen=True, **SLOTS)
class Reading:
    """One exposition: every series of an engine, and when its process started."""

    series: Mapping[Identity, Mapping[float, float]]
    started: float | None
    others: tuple[str, ...] = ()
    """Engines that speak there too, or alone, and whose counts are not understood."""

    @property
    def engines(self) -> tuple[str, ...]:
        """Which engines speak there."""
        return tuple(sorted({name.partition(":")[0] for name, _ in self.series}))

    @property
    def models(self) -> tuple[str, ...]:
        """Which models they say they serve."""
        named = {dict(labels).get("model_name", "") for _, labels in self.series}
        return tuple(sorted(named - {""}))


def reading_of(text: str) -> Reading:
    """What of an exposition is of an engine; the names are put as `engine:metric`."""
    series: dict[Identity, dict[float, float]] = {}
    started: float | None = None
    others: set[str] = set()
    for name, labels, value in samples_in(text, NAMED):
        if name == START:
            started = value
            continue
        other = next((engine for begun, engine in OTHERS.items() if name.startswith(begun)), None)
        if other is not None:
            others.add(other)
            continue
        found = ENGINE.fullmatch(name)
        bound = _bound(labels.pop("le", ""))
        if found is not None and bound is not None:
            identity = f"{found[1]}:{found[2]}", tuple(sorted(labels.items()))
            series.setdefault(identity, {})[bound] = value
    return Reading(series, started, tuple(sorted(others)))


def counted_of(
    grown: Mapping[Identity, Mapping[float, float]],
    feature: str,
    feature_label: str,
    role: str = "",
) -> dict[Group, Counted]:
    """What was done, by feature and model; `feature` empty: what the label says.

    `role` is `prefill` or `decode` where these are pools of their own, else what SGLang's label
    `engine_type` says: a request goes through both, and each counts its part of it.
    """
    told: dict[Group, Counted] = {}
    names = {name for name, _ in grown}
    for (name, pairs), values in grown.items():
        labels = dict(pairs)
        own = feature or labels.get(feature_label, "")
        group = own, labels.get("model_name", "")
        pool = role or labels.get("engine_type", "")
        counted = told.setdefault(group, Counted())
        engine, _, metric = name.partition(":")
        if metric in HISTOGRAMS:
            part = Counted(histograms={HISTOGRAMS[metric]: dict(values)})
        elif PLAIN in values:
            part = _meant(engine, metric, labels, values[PLAIN], names)
        else:
            continue
        counted.add(_part_of_pool(part, pool))
    for counted in told.values():
        _settle(counted, names)
    return {group: counted for group, counted in told.items() if counted.sums or counted.histograms}


OF_OTHER_POOL = {
    "prefill": frozenset({"requests", "succeeded", "aborted", "output_tokens", "decode_seconds"}),
    "decode": frozenset({"prompt_tokens", "cached_tokens", "prefill_seconds"}),
}
"""What each of two pools leaves to the other, which counts the same requests: it counts none of it."""


def _part_of_pool(counted: Counted, pool: str) -> Counted:
    """A pool's part of what was done; how long a request took in all neither pool knows."""
    others = OF_OTHER_POOL.get(pool)
    if others is None:
        return counted
    sums = {name: 0.0 if name in others else value for name, value in counted.sums.items()}
    return Counted(sums, {}, counted.is_measured, counted.is_mixed)


def _meant(
    engine: str, metric: str, labels: Mapping[str, str], value: float, names: set[str]
) -> Counted:
    sums = dict(_sums(engine, metric, labels, value, names))
    is_work = engine == "sglang" and metric in WORKED
    is_mixed = is_work and labels.get("category") == "mixed" and value > 0
    return Counted(sums, is_measured=is_work and bool(sums), is_mixed=is_mixed)


def _sums(
    engine: str, metric: str, labels: Mapping[str, str], value: float, names: set[str]
) -> Iterator[tuple[str, float]]:
    if metric in COUNTERS[engine]:
        yield COUNTERS[engine][metric], value
    elif engine == "sglang" and metric in WORKED:
        category = labels.get("category", "")
        if category in PREFILL | DECODE:
            yield "prefill_seconds" if category in PREFILL else "decode_seconds", value
    elif engine == "vllm" and metric == "request_success_total":
        yield "requests", value
        yield "succeeded", value if labels.get("finished_reason") in SUCCESS else 0.0
    elif engine == "vllm" and metric in _cached_names(names):
        yield "cached_tokens", value


def _cached_names(names: set[str]) -> tuple[str, ...]:
    return next((each for each in CACHED if f"vllm:{each[0]}" in names), ())


def _settle(counted: Counted, names: set[str]) -> None:
    """What follows from what was told."""
    sums = counted.sums
    if any(f"sglang:{name}" in names for name in NEWER):
        for name, beside in LAZY.items():
            if beside in sums and "succeeded" not in sums:
                sums.setdefault(name, 0.0)
    if counted.is_measured:
        # Told one of the two, the other did nothing yet.
        sums.setdefault("prefill_seconds", 0.0)
        sums.setdefault("decode_seconds", 0.0)
    aborted = sums.pop("aborted", None)
    if aborted is not None and "requests" in sums:
        sums["succeeded"] = sums["requests"] - aborted


def _bound(told: str) -> float | None:
    """Of a bucket; PLAIN of what has none, None where it cannot be read."""
    if not told:
        return PLAIN
    try:
        bound = float(told)
    except ValueError:
        return None
    return None if math.isnan(bound) else bound
