"""A job_submit.lua in the Lua that Slurm loads (liblua5.1), with what slurmctld gives it: jobs, partitions, a log."""

import ctypes
import ctypes.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "agents/agent/slurm/job_submit.lua"
CONTROLLER = """
said, logged = {}, {}
slurm = { NO_VAL = 4294967294, NO_VAL16 = 65534, INFINITE = 4294967295, SUCCESS = 0, ERROR = -1, jobs = {} }
function slurm.log_user(...) said[#said + 1] = string.format(...) end
function slurm.log_info(...) logged[#logged + 1] = string.format(...) end
slurm.log_error = slurm.log_info
os.getenv = function(name) return name == "RUNRATE_SLURM_CACHE" and CACHE or nil end
"""
SUBMIT = """
said, logged = {}, {}
local job = { %s }
local parts = { kept = { flag_default = 1, default_time = 60, max_time = 600 }, other = { max_time = 4294967295 } }
local answer = slurm_job_submit(job, parts, 0)
return tostring(answer) .. "\\n" .. tostring(job.partition) .. "\\n" .. tostring(job.admin_comment) .. "\\n"
  .. table.concat(said, "|") .. "\\n" .. table.concat(logged, "|")
"""


@dataclass(frozen=True)
class Submitted:
    """What became of a job: accepted or not, where, and what was said to whom."""

    is_accepted: bool
    partition: str
    admin_comment: str
    said: str
    logged: str


class Controller:
    """One Lua with the script loaded, as slurmctld keeps it."""

    def __init__(self, cache: Path) -> None:
        found = ctypes.util.find_library("lua5.1")
        assert found, "Slurm's Lua is missing: deploy/get-slurm.sh installs it"
        self.lua = ctypes.CDLL(found)
        self.lua.luaL_newstate.restype = ctypes.c_void_p
        self.lua.lua_tolstring.restype = ctypes.c_char_p
        self.state = ctypes.c_void_p(self.lua.luaL_newstate())
        self.lua.luaL_openlibs(self.state)
        self.run(f"CACHE = {str(cache)!r}\n{CONTROLLER}\n{SCRIPT.read_text()}")

    def submit(self, **job: object) -> Submitted:
        """A job by the fields of its description."""
        given = ", ".join(f"{name} = {_literal(value)}" for name, value in job.items())
        answer, partition, comment, said, logged = self.run(SUBMIT % given).split("\n", 4)
        return Submitted(answer == "0", partition, comment, said, logged)

    def run(self, text: str) -> str:
        """What a piece of Lua answers; an error of it fails the test."""
        code = self.lua.luaL_loadstring(self.state, text.encode())
        code = code or self.lua.lua_pcall(self.state, 0, 1, 0)
        raw = self.lua.lua_tolstring(self.state, -1, None)
        answer = (raw or b"").decode()
        self.lua.lua_settop(self.state, 0)
        assert code == 0, answer
        return answer

    def close(self) -> None:
        """End it."""
        self.lua.lua_close(self.state)


def _literal(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {_literal(each)}" for name, each in value.items()) + "}"
    if isinstance(value, str):
        return (
            '"'
            + "".join(f"\\{ord(sign):03d}" if not sign.isalnum() else sign for sign in value)
            + '"'
        )
    return str(value)
