"""Knobs of the communication layers, and of programs over them."""

from fractions import Fraction

from pydantic import model_validator

from ..rate import Rate
from .knob import Section, cost, power_of_two, structure, timing

__all__ = ["EAGER", "Am", "Apps", "Gm", "Mpi", "Mpl", "Tcp", "Via"]

EAGER = {"via": 1024, "gm": 8000, "tcp": 8000, "shm": 8000, "self": 1024}
"""Longest messages that MPI sends with their data at once, by channel, where ``mpi.eager`` does not
say: below the length where a request and a reply take less than copies do."""


class Am(Section):
    request_window: int = cost(75, unit="packets", ge=1, le=120,
                               doc="requests in flight to one peer")
    reply_window: int = cost(76, unit="packets", ge=2, le=121, doc="replies in flight to one peer")
    chunk_packets: int = cost(8, unit="packets", ge=1, le=64, doc="packets of a bulk chunk")
    chunks: int = cost(2, unit="chunks", ge=1, le=8, doc="unacknowledged bulk chunks a peer")
    retry_timeout: int = cost(20000, unit="cycles", ge=100, le=1 << 30,
                              doc="without progress for this long, ask what has arrived; longer "
                                  "if round trips are longer")
    retries: int = cost(12, unit="times", ge=1, le=1000,
                        doc="time-outs in a row in which a peer looked for messages, before it is "
                            "declared gone")
    bulk: str = cost("pointer", unit="", pattern="^(pointer|copy|pinned)$",
                     doc="how bulk data go to the NIC: by 'pointer' to where they are; by 'copy' "
                         "into the entries of firmware 'tb2'; copied to a 'pinned' region, which "
                         "the pointer is to")
    credit: str = cost("reply", unit="", pattern="^(reply|ack)$",
                       doc="what returns a request's credit: its 'reply', a null one where the "
                           "handler sends none; or its 'ack', by any packet or an explicit one at "
                           "a quarter of the request window")
    keep_alive_polls: int = cost(1000, unit="polls", ge=1, le=1 << 30,
                                 doc="unsuccessful polls before a keep-alive probe")
    message_processor: str = cost("none", unit="", pattern="^(none|cpu)$",
                                  doc="'cpu': CPU 1 of a node moves messages between queues in "
                                      "memory and the NIC; 'none': the CPU of the program does")
    message_work: int = cost(0, ge=0, le=100000,
                             doc="of a message processor: work for each message, each way, beside "
                                 "the paths that are counted")
    firmware: str = cost("am", unit="", pattern="^(am|lanai|elan|tb2)$",
                         doc="of a NIC processor: 'am', doorbells and a receive ring in host "
                             "memory; 'lanai' polls, receive queue in NIC memory, read by PIO; "
                             "'elan' loads messages from host memory, hardware receives; 'tb2' "
                             "gets them by DMA, their lengths are in NIC memory")
    work_send: int = cost(0, unit="NIC processor cycles", ge=0, le=100000,
                          doc="firmwares 'lanai' and 'elan': added to their work for a packet that "
                              "they send; 'tb2': a delay of each, beside its other work")
    work_receive: int = cost(0, unit="NIC processor cycles", ge=0, le=100000,
                             doc="added to the work of firmware 'lanai' for a packet that it "
                                 "receives, of 'elan' for a packet that it acknowledges")

    @model_validator(mode="after")
    def _combinations(self) -> "Am":
        if self.reply_window <= self.request_window:
            raise ValueError(f"am.reply_window = {self.reply_window}: must be larger than "
                             f"am.request_window = {self.request_window}, or full windows deadlock")
        if self.chunk_packets * self.chunks > 120:
            raise ValueError(f"am.chunk_packets * am.chunks = {self.chunk_packets * self.chunks}: "
                             "must be at most 120, or bulk sequence numbers are ambiguous")
        return self


class Via(Section):
    design: str = structure("auto", pattern="^(auto|engine|kernel|firmware)$",
                            doc="'engine': doorbells and VI engine in the NIC; 'kernel': neither, "
                                "the kernel drives the rings; 'firmware' of the NIC processor; "
                                "'auto': where layer via runs, firmware if there is a processor, "
                                "else engine")
    vis: int = structure(1024, unit="VIs", ge=8, le=4096, doc="VIs of a NIC")
    cqs: int = structure(64, unit="queues", ge=2, le=256, doc="completion queues of a NIC")
    queue_depth: int = structure(1024, unit="descriptors", ge=4, le=16384,
                                 doc="posted descriptors a work queue takes before VI_OVERRUN")
    doorbell_queue: int = structure(16, unit="tokens", ge=4, le=256,
                                    doc="doorbell tokens that wait in hardware")
    events: int = structure(64, unit="events", ge=4, le=1024, doc="events that wait for the kernel")
    translation: str = structure("cache", pattern="^(cache|table|physical)$",
                                 doc="'cache' over tables in host memory; whole 'table' in NIC "
                                     "memory; host-supplied 'physical' addresses")
    translations: int = structure(4096, unit="entries", ge=64, le=16384,
                                  doc="entries of the translation table, one a registered page")
    page_bytes: int = structure(4096, unit="bytes", ge=1024, le=65536, doc="page of host memory")
    cache_sets: int = structure(64, unit="sets", ge=1, le=1024, doc="of the translation cache")
    cache_ways: int = structure(4, unit="ways", ge=1, le=8, doc="of the translation cache")
    cache_replacement: str = structure("lru", pattern="^(lru|fifo|random)$",
                                       doc="which way of a full set gives way")
    send_slots: int = structure(16, unit="packets", ge=4, le=64,
                                doc="packets held for sending and for sending again, of all VIs")
    window: int = structure(8, unit="packets", ge=1, le=32,
                            doc="unacknowledged packets, and unfinished descriptors, of a VI")
    retry_timeout: int = timing(20000, ge=100, le=1 << 24,
                                doc="unacknowledged for this long, ask the peer what has arrived")
    retries: int = timing(7, unit="times", ge=1, le=255,
                          doc="time-outs in a row before the connection is broken")
    spin: int = cost(0, unit="cycles", ge=0, le=1 << 30,
                     doc="blocking calls spin for this long before they wait for the interrupt")
    register_page: int = cost(250, ge=0, le=1000000,
                              doc="pinning a page and writing its translation, beside the trap")

    @model_validator(mode="after")
    def _combinations(self) -> "Via":
        for name in ("vis", "cqs", "queue_depth", "doorbell_queue", "events", "translations",
                     "page_bytes", "cache_sets", "cache_ways", "send_slots", "window"):
            power_of_two(f"via.{name}", getattr(self, name))
        if self.window > self.send_slots // 2:
            raise ValueError(f"via.window = {self.window}: must be at most half of via.send_slots "
                             f"= {self.send_slots}, or one dead peer holds them all")
        if self.cache_sets * self.cache_ways > self.translations:
            raise ValueError(f"via.cache_sets * via.cache_ways = "
                             f"{self.cache_sets * self.cache_ways}: must be at most "
                             f"via.translations = {self.translations}")
        return self


class Gm(Section):
    send_tokens: int = cost(16, unit="tokens", ge=1, le=16, doc="sends of a port under way")
    receive_tokens: int = cost(32, unit="tokens", ge=1, le=32,
                               doc="buffers that a port has provided")
    window: int = cost(8, unit="packets", ge=1, le=64,
                       doc="unacknowledged packets of a port to one node, a priority")
    retry_timeout: int = cost(50000, unit="cycles", ge=100, le=1 << 30,
                              doc="without progress for this long, ask what has arrived")
    retries: int = cost(12, unit="times", ge=1, le=30,
                        doc="time-outs in a row before a send fails")
    work_send: int = cost(0, unit="NIC processor cycles", ge=0, le=100000,
                          doc="a delay of the firmware behind each packet of data that it gives to "
                              "the link; a firmware without it is what 0 means")


class Tcp(Section):
    socket_buffer: int = cost(32768, unit="bytes", ge=256, le=65535,
                              doc="a socket's buffer, each way: the window")
    mss: int = cost(0, unit="bytes", ge=0, le=8960,
                    doc="most data of a segment; 0: what nic.mtu leaves beside the headers of 40")
    delayed_ack: int = cost(660000, unit="cycles", ge=0, le=1 << 30,
                            doc="an acknowledgement waits so long for data to go with, or for a "
                                "second segment; 0: none waits")
    rto_min: int = cost(13200000, unit="cycles", ge=100, le=1 << 30,
                        doc="least time until a segment that was not acknowledged is sent again")
    retries: int = cost(12, unit="times", ge=1, le=1000,
                        doc="time-outs in a row before a connection is given up")
    time_wait: int = cost(0, unit="cycles", ge=0, le=1 << 30,
                          doc="a connection that both ends have closed is kept for this long, and "
                              "its program does not end before: for a FIN that comes again")
    path_scale: Rate = cost(Fraction(1), unit="", ge=0, le=1000,
                            doc="factor on what the kernel's own paths take, in place of "
                                "cpu.path_scale")
    checksum_word: int = cost(2, ge=0, le=100000,
                              doc="8 bytes added to a checksum, beside their load")
    context_switch: int = cost(1200, ge=0, le=1000000, doc="another process on the CPU")
    select: int = cost(150, ge=0, le=1000000, doc="one descriptor looked at by select")


class Mpl(Section):
    path_scale: Rate = cost(Fraction(1), unit="", ge=0, le=1000,
                            doc="factor on what MPL's own paths take, in place of cpu.path_scale")
    eager_bytes: int = cost(1024, unit="bytes", ge=16, le=1 << 16,
                            doc="longest message that is sent before its receive is known")


class Mpi(Section):
    channel: str = cost("via", unit="", pattern="^(via|gm|tcp)$",
                        doc="what carries messages between nodes; between the CPUs of one it is "
                            "shared memory")
    path_scale: Rate = cost(Fraction(1), unit="", ge=0, le=1000,
                            doc="factor on what the layer's own paths take, in place of "
                                "cpu.path_scale")
    eager: int = cost(0, unit="bytes", ge=0, le=1 << 20,
                      doc="longest message that is sent with its data at once, where it fits into "
                          "a buffer of the channel; 0: the channel's own: 1,024 of 'via', 8,000 of "
                          "'gm', 'tcp' and shared memory")
    rendezvous: str = cost("write", unit="", pattern="^(write|read|bounce)$",
                           doc="how longer ones go: the sender writes the data, the receiver reads "
                               "them, or in parts through the channel's buffers")
    buffer_bytes: int = cost(8192, unit="bytes", ge=512, le=1 << 18, multiple_of=64,
                             doc="a buffer of channels 'via' and 'gm', and the longest packet of "
                                 "'tcp', with its header")
    gm_buffers: str = cost("shares", unit="", pattern="^(shares|classes)$",
                           doc="receive buffers of channel 'gm': all of one size class, a share "
                               "for each other rank, counted by credits; or some of each class "
                               "for whoever sends")
    prepost: int = cost(12, unit="buffers", ge=6, le=128,
                        doc="receives that wait on a VI when it is connected")
    prepost_used: int = cost(32, unit="buffers", ge=6, le=128,
                             doc="and from its first message on")
    registration_cache: int = cost(1024, unit="pages", ge=0, le=16384,
                                   doc="registered pages of users' buffers that are kept after "
                                       "use; 0: none")
    derived: str = cost("pack", unit="", pattern="^(pack|segments)$",
                        doc="long messages of derived types: copied into one piece, or a segment "
                            "of the descriptor for each block")
    program_cycles: Rate = cost(Fraction(0), unit="CPU cycles", ge=0, le=1000000000,
                                doc="what a program with blocking calls computes before each of "
                                    "them")

    @model_validator(mode="after")
    def _combinations(self) -> "Mpi":
        if self.prepost_used < self.prepost:
            raise ValueError(f"mpi.prepost_used = {self.prepost_used}: must be at least "
                             f"mpi.prepost = {self.prepost}")
        return self

    def eager_of(self, channel: str) -> int:
        """``eager``, or what the channel called so has where that is 0."""
        return self.eager or EAGER[channel]


class Apps(Section):
    flop: Rate = cost(Fraction(21, 10), unit="CPU cycles", ge=0, le=100000,
                      doc="mm: a floating-point operation; fitted to the SP-2's mm 128")
    sort_key: Rate = cost(Fraction(220), unit="CPU cycles", ge=0, le=1000000,
                          doc="sample-sort: both local sorts of a key; fitted to the SP-2's "
                              "smpsort lg")
    radix_key: Rate = cost(Fraction(140), unit="CPU cycles", ge=0, le=1000000,
                           doc="radix-sort: a key in one pass; fitted to the SP-2's rdxsort lg")
    is_key: Rate = cost(Fraction(112), unit="CPU cycles", ge=0, le=1000000,
                        doc="NAS IS: a key in one iteration")
    ep_pair: Rate = cost(Fraction(906), unit="CPU cycles", ge=0, le=1000000,
                         doc="NAS EP: a pair of numbers")
    cg_nonzero: Rate = cost(Fraction(33), unit="CPU cycles", ge=0, le=1000000,
                            doc="NAS CG: a nonzero in one product with the matrix")
    mg_point: Rate = cost(Fraction(60), unit="CPU cycles", ge=0, le=1000000,
                          doc="NAS MG: a point that an operation on a grid writes")
    ft_point: Rate = cost(Fraction(200), unit="CPU cycles", ge=0, le=1000000,
                          doc="NAS FT: a point in a transform along one axis")
    lu_point: Rate = cost(Fraction(15200), unit="CPU cycles", ge=0, le=10000000,
                          doc="NAS LU: a point in one iteration")
    sp_point: Rate = cost(Fraction(9200), unit="CPU cycles", ge=0, le=10000000,
                          doc="NAS SP: a point in one iteration")
    bt_point: Rate = cost(Fraction(24000), unit="CPU cycles", ge=0, le=10000000,
                          doc="NAS BT: a point in one iteration")
    poll_interval: int = cost(20000, ge=0, le=1 << 30,
                              doc="a program that computes polls after this many; 0: never")

    @classmethod
    def cost_items(cls) -> tuple[str, ...]:
        """None: its items may be fractions of a CPU cycle, and no path has them."""
        return ()
