"""How much of a node's price rides on its GPUs' time; the rest of it is the host's."""

from collections.abc import Sequence
from dataclasses import replace

from apps.economics.bases import Amounts, split_bases
from apps.economics.rates import Piece

WHOLE = 1_000_000


def divided(
    pieces: Sequence[Piece], millionths: int
) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """The pieces of a node-hour with `millionths` of their amounts, and those of the host's part.

    The two sum to the micro-unit on every basis, and each keeps their order. Only what is known is
    divided: a piece without an effective amount stays as it is and has no part of the host's, and
    a basis that one of the others does not know stays whole with the GPUs.
    """
    known_pieces = [piece for piece in pieces if piece.effective_micros is not None]
    has_contracted = all(piece.contracted_micros is not None for piece in known_pieces)
    has_list = has_contracted and all(piece.list_micros is not None for piece in known_pieces)
    gpu_pieces, host = [], []
    for piece in pieces:
        if piece.effective_micros is None:
            gpu_pieces.append(piece)
            continue
        amounts = Amounts(
            piece.list_micros if has_list else None,
            piece.contracted_micros if has_contracted else None,
            piece.effective_micros,
        )
        of_gpus, of_host = split_bases(amounts, [millionths, WHOLE - millionths])
        gpu_pieces.append(
            replace(
                piece,
                list_micros=of_gpus.list_micros if has_list else piece.list_micros,
                contracted_micros=(
                    of_gpus.contracted_micros if has_contracted else piece.contracted_micros
                ),
                effective_micros=of_gpus.effective_micros,
            )
        )
        host.append(
            replace(
                piece,
                list_micros=of_host.list_micros,
                contracted_micros=of_host.contracted_micros,
                effective_micros=of_host.effective_micros,
            )
        )
    return tuple(gpu_pieces), tuple(host)
