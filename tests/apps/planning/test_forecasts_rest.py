"""GET /api/v1/forecasts: whose series one sees, the hours of a forecast, the same as CSV."""

import csv
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from apps.economics.hours import HOUR
from apps.planning import actions
from apps.planning.models import Forecast, ForecastSeries
from apps.planning.queries.series import SeriesKey
from apps.planning.solvers.forecasting import forecast_fields
from tests import make
from tests.apps.unit_economics import service_scene as services

pytestmark = pytest.mark.django_db

DAYS = 10


@pytest.fixture(scope="module")
def tokens(of_module: None) -> dict[str, str]:
    """Forecasts of the whole, of two teams and of a service of the first; a token for each who may ask."""
    make.make_organisation()
    red, blue = make.make_team("Red"), make.make_team("Blue")
    chat = services.make_service(red)
    for measure, dimension, key in (
        ("gpu_hours", "", ""),
        ("spend", "team", str(red)),
        ("spend", "team", str(blue)),
        ("requests", "service", str(chat)),
    ):
        points = [(make.NOON + hour * HOUR, 40.0 + hour % 24) for hour in range(DAYS * 24)]
        series = SeriesKey(measure, dimension, key)
        actions.import_history(series=series, points=points, at=make.NOON + timedelta(days=30))
    for day in (DAYS, DAYS + 1):
        actions.make_forecasts(maker=forecast_fields, at=make.NOON + timedelta(days=day, hours=5))
        further = [(make.NOON + (DAYS * 24 + hour) * HOUR, 41.0) for hour in range(12)]
        spend = SeriesKey("spend", "team", str(red))
        actions.import_history(series=spend, points=further, at=make.NOON + timedelta(days=30))
    return {
        "everything": make.make_token("read", name="all").secret,
        "red": make.make_token("read", name="red", team_id=red).secret,
        "ingest": make.make_token("ingest", name="none").secret,
    }


def asked(secret: str, path: str = "", **given: Any) -> Any:
    client = APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client.get(f"/api/v1/forecasts{path}", given or None)


def names(answer: Any) -> list[str]:
    return [row["series"] for row in answer.json()["results"]]


def test_a_team_sees_its_own_series_and_its_services(tokens) -> None:
    assert sorted(names(asked(tokens["everything"]))) == [
        "gpu_hours",
        "requests:service=chat-api",
        "spend:team=Blue",
        "spend:team=Red",
    ]
    assert names(asked(tokens["red"])) == ["requests:service=chat-api", "spend:team=Red"]
    assert asked(tokens["ingest"]).status_code == 403
    assert asked("nobody").status_code == 401
    others = asked(tokens["everything"], series="spend:team=Blue").json()["results"][0]["id"]
    assert asked(tokens["red"], f"/{others}/hours").status_code == 404


def test_a_forecast_says_what_it_was_made_from_and_how_well_it_did(tokens) -> None:
    newest, first = asked(tokens["red"], series="spend:team=Red", earlier="true").json()["results"]
    assert newest["starts_at"] > first["starts_at"]
    assert (first["unit"], first["name"], first["observed_hours"]) == ("USD", "Red", DAYS * 24)
    assert first["horizon_hours"] == 336
    assert first["backtest_24h"]["origins"] == 8
    assert sum(first["weights"].values()) == pytest.approx(1, abs=1e-4)
    assert len(first["digest"]) == 64
    assert first["realised_hours"] == 12
    assert first["realised_error"] > 0
    assert newest["realised_error"] is None


def test_its_hours_have_quantiles_and_what_came_and_are_the_same_as_csv(tokens) -> None:
    first = asked(tokens["red"], series="spend:team=Red", earlier="true").json()["results"][1]
    hours = asked(tokens["red"], f"/{first['id']}/hours", limit=400).json()["results"]
    assert len(hours) == 336
    assert hours[0]["hour"] == first["starts_at"]
    assert [hour["observed"] for hour in hours[:13]] == [41.0] * 12 + [None]
    assert all(hour["q10"] <= hour["value"] <= hour["q90"] for hour in hours[:24])
    client = APIClient(HTTP_AUTHORIZATION=f"Bearer {tokens['red']}", HTTP_ACCEPT="text/csv")
    table = client.get(f"/api/v1/forecasts/{first['id']}/hours").content.decode()
    lines = list(csv.DictReader(table.splitlines()))
    upper = [hour["q90"] for hour in hours]
    assert upper[-1] is None, "ten days say too little of the errors two weeks ahead"
    assert [float(line["q90"]) if line["q90"] else None for line in lines] == upper
    listed = client.get("/api/v1/forecasts").content.decode()
    assert "backtest_24h_coverage_80" in listed.splitlines()[0]
    assert "weights_naive" in listed.splitlines()[0]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"series": "spend:team=Green"}, "series"),
        ({"series": "gpus"}, "series"),
        ({"measure": "watts"}, "measure"),
        ({"earlier": "perhaps"}, "earlier"),
        ({"earlier": "true"}, "earlier"),
        ({"horizon": "24"}, "horizon"),
    ],
)
def test_what_is_not_understood_is_refused_by_its_name(tokens, given, field) -> None:
    answer = asked(tokens["everything"], **given)
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]


def test_a_series_of_others_is_as_if_there_were_none(tokens) -> None:
    for name in ("spend:team=Blue", "spend:team=Green"):
        answer = asked(tokens["red"], series=name)
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["message"] == (
            f"'{name}' is none of requests:service=chat-api, spend:team=Red"
        )


def test_services_of_one_name_are_all_answered_each_to_who_sees_it(tokens) -> None:
    forecast_again_of(services.make_service(make.make_team("Green")))
    for given in ({}, {"earlier": "true"}):
        chats = asked(tokens["everything"], series="requests:service=chat-api", **given)
        assert len({row["id"] for row in chats.json()["results"]}) == 2
    assert len(names(asked(tokens["red"], series="requests:service=chat-api"))) == 1


def test_more_series_take_no_more_queries(tokens) -> None:
    queries_of_list(tokens["everything"])
    before = queries_of_list(tokens["everything"])
    green = make.make_team("Green")
    for number in range(5):
        forecast_again_of(services.make_service(green, name=f"chat-{number}"))
    assert queries_of_list(tokens["everything"]) == before


def forecast_again_of(service: int) -> None:
    """Another service with the newest forecast of chat-api."""
    forecast = Forecast.objects.filter(series__measure="requests").latest("starts_at")
    forecast.series = ForecastSeries.objects.create(
        measure="requests", dimension="service", key=str(service)
    )
    forecast.pk = None
    forecast.save(force_insert=True)


def queries_of_list(secret: str) -> int:
    with CaptureQueriesContext(connection) as made:
        assert asked(secret).status_code == 200
    return len(made)
