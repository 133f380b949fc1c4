"""``nicbed new``: writes a folder with a design of a user's own, made from an example."""

import keyword
import re
from pathlib import Path

from ..errors import UserError

__all__ = ["EXAMPLES", "example", "write_new"]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
"""The folder of the examples, each of which runs. A new folder is one of them by another name."""
_NAMES = {"nic": "wire_nic", "layer": "tap_layer", "bench": "first_bench",
          "firmware": "echo_firmware"}
_VERILOG = "wire_nic_verilog"
_COMMANDS = {
    "nic": ("nicbed check nic {0}", "nicbed bench logp --nic {0} --layer raw"),
    "layer": ("nicbed bench logp --layer ./{0}/layer.py",),
    "bench": ("nicbed bench ./{0}/bench.py",),
    "firmware": ("nicbed run {0}/program.py --nic {0}",),
}
_MOST = 32
_WORDS = {"module", "begin", "end", "input", "output", "reg", "wire", "assign", "always", "initial",
          "function", "task", "case", "default", "parameter", "logic", "int", "interface", "class",
          "package", "program", "top", "target", "station", "trunk"}
"""Names that a module in Verilog cannot have."""


def example(kind: str, *, verilog: bool = False) -> Path:
    """The folder of which a new ``kind`` is made."""
    return EXAMPLES / (_VERILOG if verilog else _NAMES[kind])


def write_new(kind: str, name: str, folder: Path, *, verilog: bool = False) -> None:
    """Write the folder ``name`` in ``folder``: a "nic", "layer", "bench" or "firmware" called so.

    Raises
    ------
    UserError
        The name will not do, something is called so already, or the folder cannot be written.
    """
    _check(kind, name, verilog)
    place = folder / name
    if place.exists() or place.is_symlink():
        raise UserError(f"{name}: is there already: nothing was written")
    source = example(kind, verilog=verilog)
    texts = {_renamed(str(path.relative_to(source)), source.name, name):
             _renamed(path.read_text(encoding="utf-8"), source.name, name)
             for path in sorted(source.rglob("*"))
             if path.is_file() and "__pycache__" not in path.parts}
    try:
        for path, text in texts.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{name}: cannot be written: {error.strerror}") from None
    print(f"{name}/: {', '.join(texts)}", *(f"try: {command.format(name)}"
                                            for command in _COMMANDS[kind]), sep="\n")


def _check(kind: str, name: str, verilog: bool) -> None:
    from ...layouts.description import Description
    from ...layouts.doors import LAYERS, NICS
    from ..benches import BENCHES

    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or len(name) > _MOST:
        raise UserError(f"{name}: a name has small letters, digits and underscores, begins with a "
                        f"letter and is not longer than {_MOST}: such as my_{kind}")
    if keyword.iskeyword(name) or verilog and (
            name in _WORDS or name.startswith(("nicbed_", "crossbar_"))):
        raise UserError(f"{name}: is a word of the language: try my_{name}")
    for door in (NICS, LAYERS, BENCHES):
        if name in door.builtin:
            raise UserError(f"{name}: a {door.kind} of nicbed's is called so: try my_{name}")
    if name in Description.model_fields:
        raise UserError(f"{name}: a section of a description is called so: try my_{name}")


def _renamed(text: str, old: str, new: str) -> str:
    """``text`` with a name in all its spellings: some_name, SomeName, SOME_NAME."""
    def camel(name: str) -> str:
        return "".join(part.capitalize() for part in name.split("_"))

    for form in (str, camel, str.upper):
        text = text.replace(form(old), form(new))
    return text
