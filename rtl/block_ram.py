"""Memory as an FPGA has it: undefined where a read meets a write."""

from amaranth.hdl import ShapeLike
from amaranth.lib import memory

__all__ = ["BlockRam"]


class BlockRam(memory.Memory):
    """A memory with one write port, of which nobody uses what is read at the edge at which the
    same word is written.

    A simulator reads the old word then; a device's block RAM reads anything. Synthesis adds logic
    to make it the old word, about a flip-flop and a LUT a bit and read port, which this memory goes
    without. Whoever uses it sees to it that such a read is not looked at;
    ``tests/unkind_memory.py`` is a stand-in that reads the old word inverted.

    Parameters
    ----------
    shape : ShapeLike
        Of a word.
    depth : int
        Words.

    Raises
    ------
    ValueError
        A port is asked for that reads what is being written, or at once, or a second one that
        writes.
    """

    def __init__(self, *, shape: ShapeLike, depth: int) -> None:
        # yosys' name; testbench.synth.netlist looks for it.
        super().__init__(shape=shape, depth=depth, init=[], attrs={"no_rw_check": 1})

    def read_port(self, *, domain: str = "sync", transparent_for: tuple = (),
                  src_loc_at: int = 0) -> memory.ReadPort:
        if domain == "comb" or transparent_for:
            raise ValueError("a BlockRam has registered reads, of what was written before")
        return super().read_port(domain=domain, src_loc_at=1 + src_loc_at)

    def write_port(self, *, domain: str = "sync", granularity: int | None = None,
                   src_loc_at: int = 0) -> memory.WritePort:
        if self.write_ports:
            raise ValueError("a BlockRam has one write port")
        return super().write_port(domain=domain, granularity=granularity,
                                  src_loc_at=1 + src_loc_at)
