"""No kernel uses a negative index: see tests/support/checked_indices.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tendril.core.describe.model import model_records

TOOL = Path(__file__).resolve().parents[1] / "support" / "checked_indices.py"


def run(*arguments):
    command = [sys.executable, "-W", "ignore", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=TOOL.parent, check=False)


def test_a_negative_index_is_found():
    found = run(
        "-c",
        "import numpy as np, checked_indices as tool\n"
        "for index in (1, slice(-1, None), -1, (0, -1)):\n"
        "    try: tool.kernel(lambda x: x[index])(np.eye(2)); print('fine')\n"
        "    except IndexError as error: print(error)",
    )
    assert found.stdout.split("\n")[:4] == ["fine", "fine", "negative index -1", "negative index -1"], found.stderr


@pytest.mark.long  # kernels as Python: a minute per model
@pytest.mark.parametrize("model", [record.name for record in model_records()])
def test_no_kernel_uses_a_negative_index(model):
    """Free, in contact with a rod, on colliders, with a body."""
    found = run(TOOL, model)
    assert found.returncode == 0, found.stdout + found.stderr
    assert found.stdout.count("no negative index") == 4
