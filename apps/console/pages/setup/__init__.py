"""Setup: what the control plane was told but cannot place, as questions with an answer each."""

from apps.console.pages.setup.values import (
    Question,
    RejectedWindows,
    SetupPage,
    SilentNode,
    UnclaimedWork,
    UnconfirmedNode,
    UnknownNode,
    UnownedAccount,
    UnpricedPool,
)
from apps.console.pages.setup.views import confirm_devices, setup

__all__ = [
    "Question",
    "RejectedWindows",
    "SetupPage",
    "SilentNode",
    "UnclaimedWork",
    "UnconfirmedNode",
    "UnknownNode",
    "UnownedAccount",
    "UnpricedPool",
    "confirm_devices",
    "setup",
]
