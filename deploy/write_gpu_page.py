"""The page of GPU models, made of the catalogue."""

from apps.economics.gpu_catalogue import CATALOGUE, GIB, GIGA, TERA
from apps.economics.gpu_model import GpuModel, ModelSource, Precision

GPUS = """One catalogue: MFU takes its peaks, MIG shares its slices, power by the plate its watts.

- Give a pool the name that the driver prints (`nvidia-smi -L`), or a cloud's or scheduler's (`nvidia-h100-80gb`, `nvidia_a100-sxm4-40gb`, `H100 SXM`); a slice with its GPU (`NVIDIA-H100-80GB-HBM3-MIG-1g.10gb`) has its compute slices' part of the peak.
- A run on slices is measured by those it held at once; where nobody says which, no MFU ([0121](../decisions/0121-a-peak-is-looked-up-never-guessed.md)). An ambiguous name has one where all its models have one peak (`A100`, not `H100`).
- Peaks are **dense** tera-operations a second of one GPU, on tensor cores but for fp32. Empty: no such format. *Unknown*: the vendor's pages disagree. Memory in GiB; links in GB/s, both directions."""  # fmt: skip


def gpu_page(note: str) -> str:
    """Return the page of every model, with its sources listed once."""
    sources = tuple(dict.fromkeys(model.source for model in CATALOGUE))
    formats = [precision.value for precision in Precision]
    headings = ["model", "memory", *formats, "links", "MIG", "source"]
    rows = (
        f"| {' | '.join(headings)} |",
        f"|{'---|' * len(headings)}",
        *(_row(model, sources.index(model.source) + 1) for model in CATALOGUE),
    )
    references = (f"{n}. {_reference(source)}" for n, source in enumerate(sources, 1))
    parts = ("# GPU models", note, GPUS, "\n".join(rows), "## Sources", "\n".join(references))
    return "\n\n".join(parts) + "\n"


def _row(model: GpuModel, source_number: int) -> str:
    link = model.link_bytes_per_second
    profiles = () if model.mig is None else model.mig.profiles
    cells = (
        f"`{model.name}`",
        f"{model.memory_bytes // GIB}",
        *(_peak(model, precision) for precision in Precision),
        "" if link is None else f"{link / GIGA:,g}",
        ", ".join(profile.name for profile in profiles),
        f"[{source_number}](#sources)",
    )
    return f"| {' | '.join(cells)} |"


def _peak(model: GpuModel, precision: Precision) -> str:
    if precision in model.unknown_peaks:
        return "unknown"
    peak = model.peaks.get(precision)
    return "" if peak is None else f"{round(peak / TERA, 1):,g}"


def _reference(source: ModelSource) -> str:
    compared = f", compared on {source.compared_on}" if source.compared_on else ""
    return f"[{source.title}]({source.url}){compared}"
