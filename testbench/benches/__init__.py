"""The microbenchmarks, one module each; a benchmark may have one module for each layer.

A benchmark's module has ``parameters(description)``, its plain parameters, and, if those leave out
the runs that take long, ``full(description)``; ``async measure(lab, layer, parameters, tell)``,
which runs host programs on a lab and returns plain data;
``evaluate(raw, description, parameters)``, a pure function from that data to results, truth, points
and checks; ``tables(document)`` and, where there is a plot, ``draw(document, figure)``. For
``nicbed compare`` it has ``headline(document)``, which returns a :class:`.common.headline.Headline`
for each figure to compare with another NIC's, ``FIGURES``, their names, where these are the same
for all descriptions, and, if there is a curve to compare, ``series(document)``.

In the order in which to read:

- :mod:`.bandwidth`: Bandwidth: messages back to back; the clock stops at the acknowledgement of the
  last
- :mod:`.latency`: Latency: half the round trip of equal messages, the same buffers throughout
- :mod:`.memory`: The memory system of a node: what an access takes by where the line is, and what
  CPUs share
- :mod:`.am`: Benchmarks of Active Messages
- :mod:`.via`: The benchmarks of the Virtual Interface Architecture: programs on VIPL
- :mod:`.one_way`: Benchmarks of layers whose messages go one way: GM, FM, MPL and TCP
- :mod:`.mpi`: Benchmarks of MPI, beside those of the layer below
- :mod:`.rpc`: Benchmarks of RPC
- :mod:`.load`: Benchmarks under load: many nodes send at once, on every layer
- :mod:`.common`: Common parts of benchmarks: programs, evaluations, tables
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ..errors import UserError, nearest

__all__ = ["BENCHES", "LAYERS", "ONE_WAY", "Bench", "get", "run"]

LAYERS = {"am": "Generic Active Messages 1.1 over the rings of the NIC, or over firmware",
          "via": "Virtual Interface Architecture 1.0: VIPL on a VI engine, the kernel or firmware",
          "gm": "GM message passing, over firmware of the NIC processor",
          "fm": "Fast Messages 1.1, over firmware of the NIC processor",
          "mpl": "MPL, the SP-2's message passing, over Active Messages",
          "tcp": "TCP/IP: sockets through the kernel, on the rings of the NIC",
          "mpi": "MPI over VIA, GM or TCP (mpi.channel)",
          "rpc": "asynchronous remote procedure calls, through the kernel and by interrupts",
          "raw": "frames as the NIC has them: no protocol, and what is lost stays lost"}
ONE_WAY = ("gm", "fm", "mpl", "tcp", "raw")
"""Layers whose messages go one way, without replies."""

Tell = Callable[[str, int, int], None]
"""Progress: called with the current step, how much of it is done, and the total."""


@dataclass(frozen=True)
class Bench:
    """A benchmark: its name, the nodes it needs (and takes by default), its description, and its
    module for each layer that has it."""

    name: str
    nodes: int
    title: str
    layers: Mapping[str, str]

    def module(self, layer: str) -> ModuleType:
        """The module for ``layer``, imported when first needed.

        Raises
        ------
        UserError
            The benchmark does not exist for that layer.
        """
        if layer not in self.layers:
            there = [name for name, bench in BENCHES.items() if layer in bench.layers]
            raise UserError(f"{self.name} does not exist for layer {layer}: it takes --layer "
                            f"{' or '.join(self.layers)}; with --layer {layer} there are: "
                            f"{', '.join(there)}")
        return importlib.import_module(f"{__name__}.{self.layers[layer]}")

    def nodes_on(self, layer: str) -> int:
        """The nodes that it takes by default over ``layer``: its module's NODES, if there are."""
        return getattr(self.module(layer), "NODES", self.nodes)


def _bench(name: str, nodes: int, title: str, *, am: str = "", via: str = "", firmware: str = "",
           one_way: str = "", mpi: str = "", rpc: str = "") -> Bench:
    """``firmware``: the module for the layers gm, fm and raw;
    ``one_way``: the module for all of :data:`ONE_WAY`."""
    found = {"am": am, "via": via, "gm": firmware, "fm": firmware, "raw": firmware, "mpi": mpi,
             "rpc": rpc, **({layer: one_way for layer in ONE_WAY} if one_way else {})}
    return Bench(name, nodes, title, {layer: module for layer, module in found.items() if module})


BENCHES = {bench.name: bench for bench in [
    _bench("rtt", 2, "round trip of a request and its reply, 1 to 4 words, leg by leg",
           am="am.rtt"),
    _bench("bare", 2, "a round trip without the layer, and what the layer adds", am="am.bare"),
    _bench("overhead", 2, "cost of requests and replies, of an empty poll, of a poll that finds",
           am="am.overhead"),
    _bench("logp", 2, "the LogP signature: o_s, o_r, g, L, RTT beside the truth", am="am.logp",
           via="via.logp", one_way="one_way.logp", rpc="rpc.logp"),
    _bench("prtt", 2, "o_s, g and G the LogGP way, as a cross-check", am="am.prtt"),
    _bench("bulk", 2, "store, store_async and get over sizes: bandwidth, r_inf, n_1/2, g(n), G",
           am="am.bulk"),
    _bench("pipelined", 2, "asynchronous stores of a fixed total, cut into requests",
           am="am.pipelined"),
    _bench("exchange", 3, "both nodes send at once, started by a third", am="am.exchange"),
    _bench("pairs", 4, "all pairs at once: is each as fast as one pair alone?", am="am.pairs"),
    _bench("one-to-many", 4, "one node sends to many: the gap by number of receivers",
           am="am.one_to_many"),
    _bench("many-to-one", 4, "many nodes send to one: the gap by number of senders",
           am="am.many_to_one"),
    _bench("incast", 4, "many nodes send to one: goodput, shares, packets sent again",
           am="load.incast", via="load.incast", firmware="load.incast"),
    _bench("alltoall", 4, "every node sends to every other: what each gets",
           am="load.alltoall", via="load.alltoall", firmware="load.alltoall"),
    _bench("nics", 2, "bandwidth by number of NICs: one node sends to another over all at once",
           am="load.nics", via="load.nics", firmware="load.nics"),
    _bench("latency", 2, "half the round trip of equal messages over sizes", am="latency",
           via="latency", one_way="latency", mpi="mpi.latency"),
    _bench("memory", 2, "a node's memory: accesses by where the line is, copies, CAS and locks",
           am="memory.bench"),
    _bench("bandwidth", 2, "messages back to back over sizes, until the last is acknowledged",
           am="bandwidth", via="bandwidth", one_way="bandwidth", mpi="mpi.bandwidth"),
    _bench("buffers", 2, "latency with fresh pages for every message; registering memory",
           via="via.buffers", mpi="mpi.buffers"),
    _bench("connections", 2, "latency against the number of connected VIs, or of partners",
           via="via.connections", mpi="mpi.connections"),
    _bench("vis", 2, "1 to 1,024 VIs with messages in flight on all of them, both ways",
           via="load.vis"),
    _bench("blocking", 2, "latency of receives that wait for an interrupt, or spin first",
           via="via.blocking"),
    _bench("gather", 2, "latency of one message in 1 to 64 segments", via="via.gather",
           mpi="mpi.gather"),
    _bench("wildcard", 2, "latency of receives from any rank, with any tag", mpi="mpi.wildcard"),
    _bench("overlap", 2, "how much of a message a rank that computes hides", mpi="mpi.overlap"),
    _bench("collectives", 4, "barrier, broadcast, reductions and exchanges over sizes",
           mpi="mpi.collectives"),
    _bench("commtest", 4, "21 protocols by which ranks exchange messages, over sizes",
           mpi="mpi.commtest.bench"),
    _bench("cq", 2, "latency with completions from a queue of 1 to 64 work queues", via="via.cq"),
]}


def get(name: str) -> Bench:
    """The benchmark called ``name``.

    Raises
    ------
    UserError
        There is none.
    """
    if name not in BENCHES:
        raise UserError(f"no benchmark is called {name}{nearest(name, list(BENCHES))}")
    return BENCHES[name]


async def run(lab: Any, name: str, layer: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Measure and evaluate, in the simulator's process; the outcome is plain JSON-able data. It
    includes the benchmark's checks and the check that nothing was sent again. On nodes with several
    NICs a benchmark is on NIC 0 of each, unless it is on all."""
    from ..results.document import plain
    from .common.one_nic import OneNic

    module = get(name).module(layer)
    several = lab.description.node.nics > 1 and not getattr(module, "EVERY_NIC", False)
    chosen = OneNic(lab) if several else lab
    raw = await module.measure(chosen, layer, parameters, lab.progress)
    outcome = module.evaluate(raw, lab.description, parameters)
    return plain({**outcome, **({"nic": 0} if several else {}),
                  "checks": [*outcome["checks"], *lab.account.checks()]})
