"""Setup: what the control plane was told but cannot place, as questions with an answer each."""

from apps.console.pages.setup.first_tokens import (
    invite_first_agent,
    make_agent_token,
    make_jobs_token,
)
from apps.console.pages.setup.guide import first_day
from apps.console.pages.setup.naming import name_nodes
from apps.console.pages.setup.values import (
    FirstDayPage,
    GuideStep,
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
    "FirstDayPage",
    "GuideStep",
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
    "first_day",
    "invite_first_agent",
    "make_agent_token",
    "make_jobs_token",
    "name_nodes",
    "setup",
]
