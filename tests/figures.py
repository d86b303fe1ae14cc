"""Every figure that a test draws is what plotly draws: nothing that it would refuse, ignore or change."""

import json

from plotly.graph_objs import Figure  # type: ignore[attr-defined]  # untyped, made lazily

from apps.show.charts import Json


def check_figure(figure: Json) -> None:
    """Refuses what plotly's validators refuse, with their ValueError, and what they would change."""
    # Its own template would be copied into each figure: an empty one takes its place.
    given = {**figure["layout"], "template": {}}  # type: ignore[dict-item]  # a mapping, as layouts are
    whole = Figure(data=figure["data"], layout=given)  # type: ignore[no-untyped-call]  # untyped
    drawn = whole.to_plotly_json()  # type: ignore[no-untyped-call]  # untyped
    drawn["layout"].pop("template")
    sent, known = _plain(figure), _plain({"data": drawn["data"], "layout": drawn["layout"]})
    if sent != known:
        raise AssertionError(f"plotly draws another figure: {sent} is sent, {known} is drawn")


def _plain(figure: Json) -> str:
    """As JSON; plotly leaves out what of a layout is an empty list."""
    layout = {name: value for name, value in figure["layout"].items() if value not in ([], ())}  # type: ignore[attr-defined]  # a mapping
    return json.dumps({"data": figure["data"], "layout": layout}, sort_keys=True)
