"""Memory as in an FPGA: undefined if a word is read and written at the same edge."""

from amaranth.hdl import ShapeLike
from amaranth.lib import memory

__all__ = ["BlockRam"]


class BlockRam(memory.Memory):
    """A memory whose user ignores a word that is read at the edge at which it is written.

    At such an edge a simulator reads the old word, and a device's block RAM reads an undefined
    word. For other memories synthesis adds logic that restores the old word, about a flip-flop and
    a LUT for each bit and read port. This memory has no such logic, so its user must not use such a
    word; in the tests of blocks it is inverted (``tests/models/unkind_target.py``).

    Its ports are registered, read the words written before, and write whole words.

    Parameters
    ----------
    shape : ShapeLike
        Of a word.
    depth : int
        Words.
    """

    def __init__(self, *, shape: ShapeLike, depth: int) -> None:
        # yosys' name; testbench.synth.collisions looks for it.
        super().__init__(shape=shape, depth=depth, init=[], attrs={"no_rw_check": 1})

    def read_port(self) -> memory.ReadPort:
        return super().read_port(src_loc_at=1)

    def write_port(self) -> memory.WritePort:
        return super().write_port(src_loc_at=1)
