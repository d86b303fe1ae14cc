"""Questions about placement over REST: quotes, offers, admissions and the next move of a running job."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from runrate import answers
from runrate.reading import Answer, UnreadableAnswer, read_answer
from runrate.surroundings import surroundings

Document = dict[str, Any]
ANSWER_SECONDS = 20.0
TRIES = 3
PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 10.0
LARGEST_ANSWER_BYTES = 64 * 1024 * 1024
ASK_AGAIN = frozenset({429, 502, 503, 504})
"""The server, or what stands before it, did nothing, or will answer the same key the same."""
ROWS_A_PAGE = 500


class RunrateError(Exception):
    """Nothing was answered; the message says why."""


class ServerAway(RunrateError):
    """Nobody answered in time, also when asked again."""


class NotRunrate(RunrateError):
    """What answers there does not speak as a Runrate server does."""


@dataclass(frozen=True)
class FieldProblem:
    """What is wrong with one field of what was asked."""

    field: str
    message: str

    def __str__(self) -> str:
        """`gpus: this is an integer in JSON`."""
        return f"{self.field}: {self.message}" if self.field else self.message


class AskRefused(RunrateError):
    """A refusal in the server's words; `problems` name the fields."""

    def __init__(
        self, status: int, title: str, detail: str, problems: tuple[FieldProblem, ...]
    ) -> None:
        super().__init__("; ".join(map(str, problems)) or detail or title)
        self.status, self.title, self.detail, self.problems = status, title, detail, problems


class Client:
    """Asks one Runrate server. Every method refuses AskRefused, ServerAway and NotRunrate.

    What asks for something to be kept carries an Idempotency-Key: when nobody answers it is asked again,
    and kept once. Redirects are not followed: the token is for this server alone.
    """

    def __init__(
        self,
        url: str = "",
        token: str = "",
        *,
        timeout: float = ANSWER_SECONDS,
        tries: int = TRIES,
    ) -> None:
        """Without them by RUNRATE_URL and RUNRATE_TOKEN; `timeout` in seconds, of each try. Refuses ValueError."""
        said = surroundings()
        self.url, self.token = (url or said.url).rstrip("/"), token or said.token
        self.timeout, self.tries = timeout, max(1, tries)
        if urlsplit(self.url).scheme not in ("http", "https"):
            raise ValueError(
                f"RUNRATE_URL is {self.url!r}: say where Runrate is, as in https://runrate.example"
                if self.url
                else "RUNRATE_URL is not set: say where Runrate is"
            )
        if not self.token.isascii() or not self.token.isprintable() or " " in self.token:
            raise ValueError(
                "RUNRATE_TOKEN holds what no token has: a space, or a sign of no ASCII"
            )
        if not self.token:
            raise ValueError("RUNRATE_TOKEN is not set: quotes need a token of the scope schedule")
        self._opener = build_opener(_NoRedirect())

    def quote(self, job: Mapping[str, Any]) -> answers.Quote:
        """The job, as `POST /api/v1/quotes` takes it, held against all that can be had; kept by the server."""
        return read(answers.Quote, self.post("quotes", job))

    def kept_quote(self, quote_id: int) -> answers.Quote:
        """A quote as it was answered, with what came of it."""
        return read(answers.Quote, self.get(f"quotes/{quote_id}"))

    def taken(
        self, quote_id: int, offer: str, *, job: int | None = None, run: int | None = None
    ) -> answers.Quote:
        """Say which offer (its key) a job or a run took, by its id; one of them."""
        body = {"offer": offer, "job": job, "run": run}
        return read(answers.Quote, self.post(f"quotes/{quote_id}/taken", body))

    def offers(self) -> list[answers.Offer]:
        """Every offer of the newest book, by key."""
        found: list[answers.Offer] = []
        query = f"limit={ROWS_A_PAGE}"
        while query:
            page = self.get(f"offers?{query}")
            found += [read(answers.Offer, row) for row in page.get("results", ())]
            # Of the link the query alone: the server may know itself by another name.
            query = urlsplit(str(page.get("next") or "")).query
        return found

    def admit(self, job: Mapping[str, Any]) -> answers.Admission:
        """Whether a job, as `POST /api/v1/admissions` takes it, may start."""
        return read(answers.Admission, self.post("admissions", job))

    def next_move(self, job_id: int, standing: Mapping[str, Any]) -> answers.NextMove:
        """What a running job does now; `standing` as `POST /api/v1/placements/{job}/next` takes it."""
        return read(answers.NextMove, self.post(f"placements/{job_id}/next", standing))

    def get(self, path: str) -> Document:
        """The document under `/api/v1/`."""
        return self._asked(path, None)

    def post(self, path: str, body: Mapping[str, Any]) -> Document:
        """Send a body to `/api/v1/`, once however often it is tried. Refuses ValueError too: what no JSON can say."""
        try:
            whole = json.dumps(dict(body), allow_nan=False).encode()
        except (TypeError, ValueError) as trouble:
            raise ValueError(f"this cannot be sent as JSON: {trouble}") from trouble
        return self._asked(path, whole)

    def _asked(self, path: str, body: bytes | None) -> Document:
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        if body is not None:
            headers |= {"Content-Type": "application/json", "Idempotency-Key": uuid.uuid4().hex}
        asked = Request(f"{self.url}/api/v1/{path}", body, headers)  # noqa: S310 - http(s) alone
        for left in range(self.tries - 1, -1, -1):
            try:
                with self._opener.open(asked, timeout=self.timeout) as answer:
                    return _document(answer.read(LARGEST_ANSWER_BYTES), self.url)
            except HTTPError as refused:
                with refused:
                    if not left or refused.code not in ASK_AGAIN:
                        raise _refusal(refused, self.url) from None
                    pause = _pause_of(refused, self.tries - left)
            except (URLError, HTTPException, OSError) as trouble:
                if not left:
                    why = getattr(trouble, "reason", None) or trouble
                    raise ServerAway(f"{self.url} does not answer: {why}") from trouble
                pause = PAUSE_SECONDS * (self.tries - left)
            time.sleep(pause)
        raise AssertionError  # the last try answers or raises


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *given: Any) -> None:
        """Never: a POST would become a GET, and the token go elsewhere."""


def read(form: type[Answer], document: Document) -> Answer:
    """An answer as its value. Refuses NotRunrate."""
    try:
        return read_answer(form, document)
    except UnreadableAnswer as trouble:
        raise NotRunrate(f"the answer cannot be read: {trouble}") from trouble


def _document(raw: bytes, url: str) -> Document:
    try:
        found = json.loads(raw)
    except ValueError as trouble:
        raise NotRunrate(f"{url} answers with something that is not JSON") from trouble
    if not isinstance(found, dict):
        raise NotRunrate(f"{url} answers with JSON that is no object")
    return found


def _refusal(refused: HTTPError, url: str) -> RunrateError:
    """What a status other than 2xx means."""
    if 300 <= refused.code < 400:
        elsewhere = refused.headers.get("Location", "elsewhere")
        return NotRunrate(f"{url} sends on to {elsewhere}: set RUNRATE_URL to where Runrate is")
    try:
        told = json.loads(refused.read(LARGEST_ANSWER_BYTES))
        problems = tuple(
            FieldProblem(str(each["field"]), str(each["message"]))
            for each in told.get("errors", ())
        )
        title, detail = str(told["title"]), str(told.get("detail", ""))
    except (ValueError, TypeError, KeyError, AttributeError, OSError, HTTPException):
        if refused.code in ASK_AGAIN:
            return ServerAway(f"{url} answers {refused.code} {refused.reason}")
        return NotRunrate(f"{url} answers {refused.code} {refused.reason}, and no problem in words")
    if refused.code in ASK_AGAIN and refused.code != 429:
        return ServerAway(f"{url} answers {refused.code}: {detail or title}")
    return AskRefused(refused.code, title, detail, problems)


def _pause_of(refused: HTTPError, tried: int) -> float:
    said = refused.headers.get("Retry-After", "")
    seconds = float(said) if said.isascii() and said.isdigit() else PAUSE_SECONDS * tried
    return min(LONGEST_PAUSE_SECONDS, seconds)
