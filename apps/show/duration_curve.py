"""A duration curve: hours sorted by demand, and what each level of it comes from."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from apps.show.charts import Json, checked, plot_layout, ticks_between

_MARGIN_PX = {"r": 16, "t": 34, "b": 44}
_TICKS = (0, 25, 50, 75, 100)


@dataclass(frozen=True, slots=True)
class DurationLayer:
    """GPUs of one source, by step; `colour` is a token such as `--accent`."""

    name: str
    colour: str
    gpus: Sequence[float]


def duration_curve(shares: Sequence[float], layers: Sequence[DurationLayer]) -> Json:
    """Areas stacked from zero, over the part of hours from the highest demand down; `shares` are up to 1."""
    tops = [sum(layer.gpus[place] for layer in layers) for place in range(len(shares))]
    ticks = ticks_between(Decimal(0), Decimal(max(tops, default=1.0) or 1.0))
    texts = [f"{tick.normalize():,f}" for tick in ticks]
    drawn = [layer for layer in layers if any(layer.gpus)]
    layout = plot_layout(
        ticks,
        texts,
        _MARGIN_PX,
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        hovermode="x unified",
        xaxis={
            "range": [0, 100],
            "tickmode": "array",
            "tickvals": list(_TICKS),
            "ticktext": [f"{tick} %" for tick in _TICKS],
            "title": {"text": "of all hours, those of the highest demand first"},
            "showgrid": False,
            "fixedrange": True,
            "linecolor": "var(--line-strong)",
            "unifiedhovertitle": {"text": "at %{x:.0f} % of hours"},
        },
    )
    return checked([_layer_area(shares, layer) for layer in drawn], layout)


def _layer_area(shares: Sequence[float], layer: DurationLayer) -> Json:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": layer.name,
        "stackgroup": "sources",
        "x": [100 * share for share in shares],
        "y": list(layer.gpus),
        "line": {"color": f"var({layer.colour})", "width": 0.5},
        "fillcolor": f"var({layer.colour})",
        "hovertemplate": f"{layer.name}: %{{y:,.1f}} GPUs<extra></extra>",
    }
