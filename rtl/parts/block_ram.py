"""Memory as an FPGA has it: undefined where a read meets a write."""

from amaranth.hdl import ShapeLike
from amaranth.lib import memory

__all__ = ["BlockRam"]


class BlockRam(memory.Memory):
    """A memory of which nobody uses what is read at the edge at which the same word is written.

    A simulator reads the old word then; a device's block RAM reads anything. Synthesis adds logic
    to make it the old word, about a flip-flop and a LUT a bit and read port, which this memory goes
    without. Whoever uses it sees to it that such a read is not looked at; in the tests of blocks it
    gives the word inverted (``tests/models/unkind_target.py``).

    Its ports are registered, read what was written before, and write whole words.

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
