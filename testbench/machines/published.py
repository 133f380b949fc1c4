"""The published studies that come with nicbed."""

from pathlib import Path

from .studies import read_file

__all__ = ["ASSESSMENT", "CLUMPS", "SP2", "ULNP"]

_FOLDER = Path(__file__).resolve().parent / "studies"

ASSESSMENT = read_file(_FOLDER / "assessment.toml")
CLUMPS = read_file(_FOLDER / "clumps.toml")
SP2 = read_file(_FOLDER / "sp2.toml")
ULNP = read_file(_FOLDER / "ulnp.toml")
