"""Engines made up for tests: what vLLM and SGLang show of themselves, and a port that shows it."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

INF = float("inf")
VLLM = {"engine": "0", "model_name": "llama-3.1-8b"}
SGLANG = {"engine_type": "unified", "model_name": "qwen3-32b", "tp_rank": "0"}


class Exposition:
    """Counters that are counted up, and shown as Prometheus text."""

    def __init__(self, started: float | None = None) -> None:
        self.values: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
        self.started = started

    def count(self, name: str, by: float, **labels: str) -> None:
        key = name, tuple(sorted(labels.items()))
        self.values[key] = self.values.get(key, 0.0) + by

    def observe(self, name: str, buckets: Mapping[float, int], **labels: str) -> None:
        """So many more requests at most as long as each bound."""
        for bound, by in buckets.items():
            le = "+Inf" if bound == INF else str(bound)
            self.count(f"{name}_bucket", by, le=le, **labels)

    def text(self) -> str:
        lines = ["# HELP vllm:x Something else.", "# TYPE vllm:x counter", "python_gc 3.0"]
        for (name, labels), value in self.values.items():
            pairs = ",".join(f'{label}="{told}"' for label, told in labels)
            lines.append(f"{name}{{{pairs}}} {value}")
        if self.started is not None:
            lines.append(f"process_start_time_seconds {self.started}")
        return "\n".join(lines) + "\n"


def count_vllm(shown: Exposition, times: int = 1) -> None:
    """What an engine did in a while: 20 requests, one of them aborted."""
    for reason, by in {"stop": 15, "length": 3, "repetition": 1, "abort": 1, "error": 0}.items():
        shown.count("vllm:request_success_total", by * times, finished_reason=reason, **VLLM)
    shown.count("vllm:prompt_tokens_total", 26_000 * times, **VLLM)
    shown.count("vllm:prompt_tokens_cached_total", 6_000 * times, **VLLM)
    shown.count("vllm:prefix_cache_hits_total", 6_100 * times, **VLLM)
    shown.count("vllm:generation_tokens_total", 4_500 * times, **VLLM)
    shown.count("vllm:request_prefill_time_seconds_sum", 20.75 * times, **VLLM)
    shown.count("vllm:request_decode_time_seconds_sum", 60.125 * times, **VLLM)
    latency = {0.5: 5, 1.0: 15, 2.5: 19, INF: 20}
    shown.observe(
        "vllm:e2e_request_latency_seconds", {k: v * times for k, v in latency.items()}, **VLLM
    )


def count_sglang(shown: Exposition, feature: str) -> None:
    """What an engine did in a while: 4 requests of a feature."""
    asked = SGLANG | {"feature": feature}
    shown.count("sglang:num_requests_total", 4, **asked)
    shown.count("sglang:prompt_tokens_total", 8_000, **asked)
    shown.count("sglang:generation_tokens_total", 1_200, is_streaming="true", **asked)
    shown.count("sglang:forward_execution_seconds_total", 2.0, category="extend", **SGLANG)
    shown.count("sglang:forward_execution_seconds_total", 6.0, category="decode", **SGLANG)
    shown.count("sglang:forward_execution_seconds_total", 50.0, category="idle", **SGLANG)


@contextlib.contextmanager
def shown_at(handle: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """A port of the loopback whose GETs are handled so; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with contextlib.suppress(OSError):
                handle(self)

        def log_message(self, *arguments: object) -> None:
            """Quiet."""

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.server_port}/metrics"
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()


def answering(text: Callable[[], str], status: int = 200) -> Callable[..., None]:
    """Handles a GET with this text, without saying how long it is, as exporters do."""

    def handle(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.end_headers()
        request.wfile.write(text().encode())

    return handle
