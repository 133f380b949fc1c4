"""The types of layouts, host and testbench hold, and all of Python is clean: pyright and ruff, as
``pyproject.toml`` sets them."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_pyright_finds_nothing():
    run = subprocess.run([sys.executable, "-m", "pyright", "--outputjson", "--pythonpath",
                          sys.executable], cwd=ROOT, capture_output=True, text=True, timeout=600)
    found = json.loads(run.stdout)
    assert found["summary"]["filesAnalyzed"] > 200, run.stderr
    wrong = [f"{Path(one['file']).relative_to(ROOT)}:{one['range']['start']['line'] + 1}: "
             f"{one['message']}" for one in found["generalDiagnostics"]
             if one["severity"] == "error"]
    assert not wrong, "\n".join(wrong)


def test_ruff_finds_nothing():
    run = subprocess.run([sys.executable, "-m", "ruff", "check", "--output-format", "concise",
                          "--no-cache", "."], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stdout + run.stderr
