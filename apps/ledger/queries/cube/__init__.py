"""The cube: what costs are, by any two dimensions, from the smallest table that can tell."""

from apps.ledger.queries.added_parts import add_parts
from apps.ledger.queries.cube.dimensions import Dimension, add_dimension, dimensions
from apps.ledger.queries.cube.names import (
    CubeNames,
    KeyNotKnown,
    filter_word,
    named_keys,
    names_of,
)
from apps.ledger.queries.cube.posted import PostedApart, posted_apart
from apps.ledger.queries.cube.question import (
    CubeQuestion,
    CubeRefusal,
    DimensionNotKnown,
    DimensionsDoNotMeet,
    FilterNeeded,
    Key,
    WindowTooLong,
    refuse_unanswerable,
)
from apps.ledger.queries.cube.reading import CostQuestion, read_question
from apps.ledger.queries.cube.sources import Source, add_source
from apps.ledger.queries.cube.sums import CubeAnswer, CubeKey, CubeRow, CubeSums, explore
from apps.ledger.queries.cube.variance import CostVariance, variance_of, variances_by_team

add_parts("cube_parts")
