"""Choice of which shared-out costs count in a sum."""

from enum import StrEnum

from psycopg import sql

from apps.economics.states import Flag


class Loading(StrEnum):
    """A choice of which shared-out costs count; as `cost`, `direct_cost` and `loaded_cost` of REST.

    Charged cost has its part of shared costs (support, storage and the like) and leaves shared-out
    idle with the pool's owner, so that teams sum to the charges. Direct cost leaves out both, loaded
    cost has both.
    """

    CHARGED = "charged"
    DIRECT = "direct"
    LOADED = "loaded"


LEFT_OUT = {
    Loading.CHARGED: sql.Literal(int(Flag.SHARED_IDLE)),
    Loading.DIRECT: sql.Literal(int(Flag.SHARED_IDLE | Flag.SHARED)),
}
