"""docs/reference/gpus.md lists the catalogue as it is."""

from pathlib import Path

from apps.economics.gpu_catalogue import CATALOGUE, GIB, GIGA, TERA
from apps.economics.gpu_model import GpuModel, Precision

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "gpus.md"
COLUMNS = (Precision.FP32, Precision.TF32, Precision.BF16, Precision.FP16, Precision.FP8,
           Precision.INT8, Precision.FP4)  # fmt: skip


def test_the_page_has_a_row_for_every_model_and_no_other():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert rows == [row_of(model) for model in CATALOGUE]


def row_of(model: GpuModel) -> str:
    peaks = [cell_of(model, precision) for precision in COLUMNS]
    link = model.link_bytes_per_second
    mig = "" if model.mig is None else ", ".join(each.name for each in model.mig.profiles)
    seen = model.source.compared_on
    cells = [
        f"`{model.name}`",
        f"{model.memory_bytes // GIB}",
        *peaks,
        "" if link is None else f"{link / GIGA:,g}",
        mig,
        f"[{model.source.title}]({model.source.url}){f', {seen}' if seen else ''}",
    ]
    return f"| {' | '.join(cells)} |"


def cell_of(model: GpuModel, precision: Precision) -> str:
    if precision in model.unknown_peaks:
        return "unknown"
    peak = model.peaks.get(precision)
    return "" if peak is None else f"{round(peak / TERA, 1):,g}"
