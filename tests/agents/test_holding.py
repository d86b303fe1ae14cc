"""One agent to a state folder, whatever started the second."""

import os
import subprocess
import sys

import pytest

from runrate_agent.holding import FolderTaken, hold_folder


def test_a_second_agent_is_refused_with_the_number_of_the_first_until_that_ends(tmp_path):
    keep = "import sys, pathlib; from runrate_agent.holding import hold_folder; "
    keep += (
        f"hold_folder(pathlib.Path({str(tmp_path)!r})); print('held', flush=True); sys.stdin.read()"
    )
    first = subprocess.Popen(
        [sys.executable, "-c", keep], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert first.stdout.readline() == b"held\n"

    with pytest.raises(FolderTaken, match=rf"{tmp_path} \(process {first.pid}\)"):
        hold_folder(tmp_path, wait_seconds=0.3)
    first.kill()
    first.communicate()

    lock = hold_folder(tmp_path, wait_seconds=5)
    assert lock is not None
    os.close(lock)


def test_a_folder_that_takes_no_file_keeps_nobody_out(tmp_path):
    (tmp_path / "in the way").write_text("")

    assert hold_folder(tmp_path / "in the way/state") is None
