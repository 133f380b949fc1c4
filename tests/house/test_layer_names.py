"""No file but a layer's own names it where a capability of its endpoint, or a rule of its object,
decides. What is left of names is listed, and may only become less."""

import ast
from collections import Counter
from pathlib import Path

from nicbed.layouts.doors import LAYERS

ROOT = Path(__file__).resolve().parents[2]
BUILT_IN = {"testbench/benches/builtin.py"}
"""Lists of what is built in."""
LEFT = {
    # The default layer.
    "testbench/defaults.py": 1,
    # Names of sections of a description, of queues and of paths, not of layers.
    "host/splitc/process.py": 1, "testbench/apps/needs.py": 3,
    "testbench/simulators/simulator.py": 1,
    # Programs of one layer, and what is published of one.
    "testbench/apps/__init__.py": 6, "testbench/apps/layout.py": 1,
    "testbench/cli/running.py": 3,
    "testbench/commands/worth.py": 2, "testbench/machines/curves.py": 5,
    "testbench/machines/quantities.py": 4, "testbench/machines/reproduction.py": 1,
    "testbench/speed/measurement.py": 2, "testbench/speed/workloads.py": 3,
    "testbench/synth/area_docs.py": 3, "testbench/testbed/bed.py": 2,
    "testbench/testbed/measurement.py": 1,
    # Names of bare round trips' columns.
    "testbench/benches/am/bare.py": 3,
    # Channels of MPI, which lie on layers.
    "testbench/apps/nas/changes.py": 8, "testbench/apps/nas/extent.py": 1,
    "testbench/apps/nas/report.py": 1,
    # The form of the lives of messages.
    "testbench/testbed/result.py": 1,
}
"""How often files name layers that are not theirs."""


def named(root: Path) -> dict[str, int]:
    """How often each file below ``root`` names a layer that is built in, but for layers' own."""
    layers = {name for name in LAYERS.names() if LAYERS.is_builtin(name)}
    found: Counter[str] = Counter()
    for top in ("host", "testbench"):
        for path in sorted((root / top).rglob("*.py")):
            file = path.relative_to(root).as_posix()
            if file in BUILT_IN or any(file.startswith(f"host/{name}/") for name in layers):
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and node.value in layers:
                    found[file] += 1
    return dict(found)


def test_layers_are_named_by_their_own_files_only():
    assert named(ROOT) == LEFT, "fewer: shorten LEFT; more: ask the layer's object instead"


def test_a_name_is_found(tmp_path):
    (tmp_path / "host" / "am").mkdir(parents=True)
    (tmp_path / "host" / "am" / "own.py").write_text("LAYER = 'am'\n")
    (tmp_path / "testbench").mkdir()
    (tmp_path / "testbench" / "other.py").write_text("def f(layer):\n    return layer == 'am'\n")
    assert named(tmp_path) == {"testbench/other.py": 1}
