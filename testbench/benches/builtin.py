"""The benchmarks that are built in, one object each."""

from typing import TypedDict, Unpack

from .variants import Variants

CAPABLE = {"crowds": "crowds", "one_way": "messages"}
"""What a layer without a part of its own must be capable of, by the option that has the part."""


class _Parts(TypedDict, total=False):
    """The parts of a benchmark: ``one_way`` for layers whose messages go one way; ``crowds`` for
    layers of which many nodes can send at once; the others for the layer of that name."""

    am: str
    am2: str
    via: str
    gm: str
    mpi: str
    rpc: str
    crowds: str
    one_way: str


def _bench(name: str, nodes: int, title: str, **given: Unpack[_Parts]) -> Variants:
    parts = {layer: str(part) for layer, part in given.items() if layer not in CAPABLE}
    return Variants(name, nodes, title, parts, [(capability, str(given[way]))
                                                for way, capability in CAPABLE.items()
                                                if way in given])


RTT = _bench("rtt", 2, "round trip of a request and its reply, 1 to 4 words, leg by leg",
             am="am.rtt:Rtt")
BARE = _bench("bare", 2, "a round trip without the layer, and what the layer adds",
              am="am.bare:Bare")
OVERHEAD = _bench(
    "overhead", 2, "cost of requests and replies, of an empty poll, of a poll that finds",
    am="am.overhead:Overhead")
LOGP = _bench("logp", 2, "the LogP signature: o_s, o_r, g, L, RTT beside the truth",
              am="am.logp:AmLogp", am2="am2.logp:Am2Logp", via="via.logp:ViaLogp",
              one_way="one_way.logp:OneWayLogp", rpc="rpc.logp:RpcLogp")
PRTT = _bench("prtt", 2, "o_s, g and G the LogGP way, as a cross-check", am="am.prtt:Prtt")
BULK = _bench("bulk", 2, "store, store_async and get over sizes: bandwidth, r_inf, n_1/2, g(n), G",
              am="am.bulk:Bulk")
PIPELINED = _bench("pipelined", 2, "asynchronous stores of a fixed total, cut into requests",
                   am="am.pipelined:Pipelined")
EXCHANGE = _bench("exchange", 3, "both nodes send at once, started by a third",
                  am="am.exchange:Exchange")
PAIRS = _bench("pairs", 4, "all pairs at once: is each as fast as one pair alone?",
               am="am.pairs:Pairs")
ONE_TO_MANY = _bench("one-to-many", 4, "one node sends to many: the gap by number of receivers",
                     am="am.one_to_many:OneToMany")
MANY_TO_ONE = _bench("many-to-one", 4, "many nodes send to one: the gap by number of senders",
                     am="am.many_to_one:ManyToOne")
INCAST = _bench("incast", 4, "many nodes send to one: goodput, shares, packets sent again",
                am2="am2.incast:Am2Incast", crowds="load.incast:Incast")
ALLTOALL = _bench("alltoall", 4, "every node sends to every other: what each gets",
                  crowds="load.alltoall:Alltoall")
NICS = _bench("nics", 2, "bandwidth by number of NICs: one node sends to another over all at once",
              am2="am2.nics:Am2Nics", crowds="load.nics:Nics")
LATENCY = _bench("latency", 2, "half the round trip of equal messages over sizes",
                 am="am.latency:AmLatency", am2="am2.between:Am2Latency",
                 via="via.latency:ViaLatency",
                 one_way="latency:Latency", mpi="mpi.latency:MpiLatency")
MEMORY = _bench(
    "memory", 2, "a node's memory: accesses by where the line is, copies, CAS and locks",
    am="memory.memory:Memory")
BANDWIDTH = _bench(
    "bandwidth", 2, "messages back to back over sizes, until the last is acknowledged",
    am="am.bandwidth:AmBandwidth", am2="am2.between:Am2Bandwidth",
    via="via.bandwidth:ViaBandwidth",
    one_way="bandwidth:Bandwidth", mpi="mpi.bandwidth:MpiBandwidth")
BUFFERS = _bench("buffers", 2, "latency with fresh pages for every message; registering memory",
                 via="via.buffers:ViaBuffers", gm="gm.buffers:GmBuffers",
                 mpi="mpi.buffers:MpiBuffers")
CONNECTIONS = _bench(
    "connections", 2, "latency against the number of connected VIs, or of partners",
    via="via.connections:ViaConnections", mpi="mpi.connections:MpiConnections")
VIS = _bench("vis", 2, "1 to 1,024 VIs with messages in flight on all of them, both ways",
             via="load.vis:Vis")
BLOCKING = _bench("blocking", 2, "latency of receives that wait for an interrupt, or spin first",
                  via="via.blocking:Blocking", gm="gm.blocking:GmBlocking")
GATHER = _bench("gather", 2, "latency of one message in 1 to 64 segments",
                via="via.gather:ViaGather", mpi="mpi.gather:MpiGather")
WILDCARD = _bench("wildcard", 2, "latency of receives from any rank, with any tag",
                  mpi="mpi.wildcard:Wildcard")
OVERLAP = _bench("overlap", 2, "how much of a message a rank that computes hides",
                 mpi="mpi.overlap:Overlap")
COLLECTIVES = _bench("collectives", 4, "barrier, broadcast, reductions and exchanges over sizes",
                     mpi="mpi.collectives:Collectives")
COMMTEST = _bench("commtest", 4, "21 protocols by which ranks exchange messages, over sizes",
                  mpi="mpi.commtest.commtest:Commtest")
SEND_COST = _bench("send-cost", 2, "a send between CPUs of a node, step by step: work and memory",
                   am2="am2.send_cost:SendCost")
POLLING = _bench("polling", 2, "two protocols under one poll: what the second one costs the first",
                 am2="am2.polling:Polling")
CQ = _bench("cq", 2, "latency with completions from a queue of 1 to 64 work queues",
            via="via.cq:Cq")
