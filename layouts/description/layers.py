"""Knobs of the communication layers, and of programs over them."""

from fractions import Fraction

from pydantic import model_validator

from ..rate import Rate
from .knob import Section, cost, power_of_two, structure, timing

__all__ = ["EAGER", "Am", "Am2", "Apps", "Gm", "Mpi", "Mpl", "Tcp", "Via"]

EAGER = {"via": 1024, "gm": 8000, "vmmc": 8000, "tcp": 8000, "shm": 8000, "self": 1024}
"""Longest messages that MPI sends with their data at once, by channel, where ``mpi.eager`` does not
say: below the length where a request and a reply take less than copies do."""


class Am(Section):
    request_window: int = cost(75, unit="packets", ge=1, le=120,
                               doc="At most this many requests to one peer are in flight.")
    reply_window: int = cost(76, unit="packets", ge=2, le=121,
                             doc="At most this many replies to one peer are in flight.")
    chunk_packets: int = cost(8, unit="packets", ge=1, le=64,
                              doc="A bulk chunk has this many packets.")
    chunks: int = cost(2, unit="chunks", ge=1, le=8,
                       doc="A peer has at most this many bulk chunks unacknowledged.")
    retry_timeout: int = cost(20000, unit="cycles", ge=100, le=1 << 30,
                              doc="After this long without progress the layer asks what has "
                                  "arrived; it waits longer if round trips are longer.")
    retries: int = cost(12, unit="times", ge=1, le=1000,
                        doc="A peer is declared gone after this many time-outs in a row in which "
                            "it looked for messages.")
    bulk: str = cost("pointer", unit="", pattern="^(pointer|copy|pinned)$",
                     doc="Bulk data go to the NIC by 'pointer' to where they are, by 'copy' into "
                         "the entries of firmware 'tb2', or are copied to a 'pinned' region to "
                         "which the pointer is.")
    credit: str = cost("reply", unit="", pattern="^(reply|ack)$",
                       doc="A request's credit returns with its 'reply', a null one where the "
                           "handler sends none, or with its 'ack', in any packet or in one of its "
                           "own at a quarter of the request window.")
    keep_alive_polls: int = cost(1000, unit="polls", ge=1, le=1 << 30,
                                 doc="A keep-alive probe goes out after this many unsuccessful "
                                     "polls.")
    message_processor: str = cost("none", unit="", pattern="^(none|cpu)$",
                                  doc="With 'cpu', CPU 1 of a node moves messages between queues "
                                      "in memory and the NIC; with 'none' the program's CPU does.")
    carrier: str = cost("nic", unit="", pattern="^(nic|unet)$",
                        doc="Active Messages run over the NIC itself ('nic'), or over endpoints of "
                            "U-Net ('unet'), whose free queues are their windows.")
    message_work: int = cost(0, ge=0, le=100000,
                             doc="A message processor works this long for each message, each way, "
                                 "beside the paths that are counted.")
    firmware: str = cost("am", unit="", pattern="^(am|lanai|elan|tb2)$",
                         doc="The NIC processor runs this firmware: 'am' has doorbells and a "
                             "receive ring in host memory; 'lanai' polls, and its receive queue in "
                             "NIC memory is read by PIO; 'elan' loads messages from host memory, "
                             "and hardware receives; 'tb2' gets messages by DMA and has their "
                             "lengths in NIC memory.")
    work_send: int = cost(0, unit="NIC processor cycles", ge=0, le=100000,
                          doc="Firmwares 'lanai' and 'elan' work this much longer for each packet "
                              "that they send; 'tb2' delays each by this, beside its other work.")
    work_receive: int = cost(0, unit="NIC processor cycles", ge=0, le=100000,
                             doc="Firmware 'lanai' works this much longer for each packet that it "
                                 "receives, 'elan' for each that it acknowledges.")

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
                            doc="VIA is carried by the NIC's VI 'engine' with doorbells, by the "
                                "'kernel', which drives the rings, or by 'firmware' of the NIC "
                                "processor. 'auto' takes, where layer via runs, firmware if there "
                                "is a processor, else the engine.")
    vis: int = structure(1024, unit="VIs", ge=8, le=4096, doc="A NIC has this many VIs.")
    cqs: int = structure(64, unit="queues", ge=2, le=256,
                         doc="A NIC has this many completion queues.")
    queue_depth: int = structure(1024, unit="descriptors", ge=4, le=16384,
                                 doc="A work queue takes this many posted descriptors before "
                                     "VI_OVERRUN.")
    doorbell_queue: int = structure(16, unit="tokens", ge=4, le=256,
                                    doc="This many doorbell tokens can wait in hardware.")
    events: int = structure(64, unit="events", ge=4, le=1024,
                            doc="This many events can wait for the kernel.")
    translation: str = structure("cache", pattern="^(cache|table|physical)$",
                                 doc="The NIC translates by a 'cache' over tables in host memory "
                                     "or by a whole 'table' in its own memory, or the host "
                                     "supplies 'physical' addresses.")
    translations: int = structure(4096, unit="entries", ge=64, le=16384,
                                  doc="The translation table has this many entries, one a "
                                      "registered page.")
    page_bytes: int = structure(4096, unit="bytes", ge=1024, le=65536,
                                doc="A page of host memory has this many bytes.")
    cache_sets: int = structure(64, unit="sets", ge=1, le=1024,
                                doc="The translation cache has this many sets.")
    cache_ways: int = structure(4, unit="ways", ge=1, le=8,
                                doc="A set of the translation cache has this many ways.")
    cache_replacement: str = structure("lru", pattern="^(lru|fifo|random)$",
                                       doc="This rule chooses which way of a full set of the "
                                           "translation cache gives way.")
    send_slots: int = structure(16, unit="packets", ge=4, le=64,
                                doc="All VIs together can hold this many packets for sending and "
                                    "for sending again.")
    window: int = structure(8, unit="packets", ge=1, le=32,
                            doc="A VI has at most this many unacknowledged packets, and as many "
                                "unfinished descriptors.")
    retry_timeout: int = timing(20000, ge=100, le=1 << 24,
                                doc="After this long without an acknowledgement the NIC asks the "
                                    "peer what has arrived.")
    retries: int = timing(7, unit="times", ge=1, le=255,
                          doc="A connection is broken after this many time-outs in a row.")
    spin: int = cost(0, unit="cycles", ge=0, le=1 << 30,
                     doc="A blocking call spins for this long before it waits for the interrupt.")
    register_page: int = cost(250, ge=0, le=1000000,
                              doc="Pinning a page and writing its translation take this long, "
                                  "beside the trap.")
    work_send: int = cost(0, unit="NIC processor cycles", ge=0, le=100000,
                          doc="The firmware works this much longer for each packet of data, before "
                              "it is sent.")
    work_receive: int = cost(0, unit="NIC processor cycles", ge=0, le=100000,
                             doc="The firmware works this much longer for each packet of data, "
                                 "before it is taken.")

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
    send_tokens: int = cost(16, unit="tokens", ge=1, le=16,
                            doc="A port has at most this many sends under way.")
    receive_tokens: int = cost(32, unit="tokens", ge=1, le=32,
                               doc="A port provides at most this many buffers.")
    window: int = cost(8, unit="packets", ge=1, le=64,
                       doc="A port has at most this many unacknowledged packets to one node in "
                           "each priority.")
    retry_timeout: int = cost(50000, unit="cycles", ge=100, le=1 << 30,
                              doc="After this long without progress the firmware asks what has "
                                  "arrived.")
    retries: int = cost(12, unit="times", ge=1, le=30,
                        doc="A send fails after this many time-outs in a row.")
    work_send: int = cost(0, unit="NIC processor cycles", ge=0, le=100000,
                          doc="The firmware waits this long behind each packet of data that it "
                              "gives to the link. 0 means a firmware without the delay.")


class Am2(Section):
    protocol: str = cost("both", unit="", pattern="^(shared|network|both)$",
                         doc="Messages go through queues in the memory of a node ('shared'), by "
                             "the NICs ('network'), or, chosen by where their receiver is, by "
                             "'both'.")
    poll: str = cost("adaptive", unit="", pattern="^(fractional|adaptive)$",
                     doc="A poll of both protocols takes in the network once in am2.poll_every "
                         "times ('fractional'), or as often as recent traffic suggests, once in 8 "
                         "to 32 times ('adaptive').")
    poll_every: int = cost(8, unit="polls", ge=1, le=1024,
                           doc="One poll in so many takes in the network with am2.poll = "
                               "'fractional'.")
    poll_apart: int = cost(0, unit="cycles", ge=0, le=100000,
                           doc="With am2.protocol = 'network' a process that waits looks into NIC "
                               "memory no sooner than so long after a look that has found "
                               "nothing.")
    processes: str = cost("auto", unit="", pattern="^(auto|cpus|nodes|all)$",
                          doc="A benchmark's processes are the CPUs of node 0 ('cpus'), CPU 0 of "
                              "each node ('nodes'), or all CPUs of all nodes ('all'). 'auto' is "
                              "'cpus' where am2.protocol = 'shared', else 'nodes'.")
    path_scale: Rate = cost(Fraction(1), unit="", ge=0, le=1000,
                            doc="This factor multiplies the CPU time of the layer's own paths, in "
                                "place of cpu.path_scale.")
    queue_packets: int = cost(240, unit="packets", ge=2, le=4096,
                              doc="Each of the two queues of an endpoint in shared memory has this "
                                  "many packets. An endpoint has at most as many requests out.")
    queue_blocks: int = cost(16, unit="blocks", ge=1, le=256,
                             doc="Each of them has this many blocks of 8 KB for bulk data.")
    endpoints: int = cost(32, unit="endpoints", ge=1, le=64,
                          doc="A NIC serves this many endpoints, of which am2.frames at a time are "
                              "in its memory.")
    frames: int = cost(8, unit="endpoints", ge=1, le=8,
                       doc="At most this many endpoints are in a NIC's memory at a time; others "
                           "are brought in when they are used, or when packets come for them.")
    frame_packets: int = cost(16, unit="packets", ge=2, le=16,
                              doc="Each receive queue of an endpoint in NIC memory has this many "
                                  "packets.")
    window: int = cost(16, unit="packets", ge=1, le=64,
                       doc="An endpoint has at most this many unacknowledged packets to one NIC, "
                           "of requests and of replies each.")
    retry_timeout: int = cost(50000, unit="cycles", ge=100, le=1 << 30,
                              doc="After this long without progress the firmware asks what has "
                                  "arrived.")
    retries: int = cost(12, unit="times", ge=1, le=30,
                        doc="A node is unreachable after this many time-outs in a row.")
    work_send: int = cost(0, unit="NIC processor cycles", ge=0, le=100000,
                          doc="The firmware works this much longer for each packet that it sends.")
    work_receive: int = cost(0, unit="NIC processor cycles", ge=0, le=100000,
                             doc="The firmware works this much longer for each packet that it "
                                 "receives.")


class Tcp(Section):
    socket_buffer: int = cost(32768, unit="bytes", ge=256, le=65535,
                              doc="A socket's buffer has this many bytes each way; it is the "
                                  "window.")
    mss: int = cost(0, unit="bytes", ge=0, le=8960,
                    doc="A segment carries at most this much data; 0 takes what nic.mtu leaves "
                        "beside the headers of 40.")
    delayed_ack: int = cost(660000, unit="cycles", ge=0, le=1 << 30,
                            doc="An acknowledgement waits this long for data to go with, or for a "
                                "second segment; with 0 none waits.")
    rto_min: int = cost(13200000, unit="cycles", ge=100, le=1 << 30,
                        doc="A segment that was not acknowledged is sent again after this long at "
                            "the earliest.")
    retries: int = cost(12, unit="times", ge=1, le=1000,
                        doc="A connection is given up after this many time-outs in a row.")
    time_wait: int = cost(0, unit="cycles", ge=0, le=1 << 30,
                          doc="A connection that both ends have closed is kept for this long, for "
                              "a FIN that comes again; its program does not end before.")
    path_scale: Rate = cost(Fraction(1), unit="", ge=0, le=1000,
                            doc="This factor multiplies the CPU time of the kernel's own paths, in "
                                "place of cpu.path_scale.")
    checksum_word: int = cost(2, ge=0, le=100000,
                              doc="Adding 8 bytes to a checksum takes this long, beside their "
                                  "load.")
    context_switch: int = cost(1200, ge=0, le=1000000,
                               doc="Switching the CPU to another process takes this long.")
    select: int = cost(150, ge=0, le=1000000,
                       doc="Looking at one descriptor in select takes this long.")


class Mpl(Section):
    path_scale: Rate = cost(Fraction(1), unit="", ge=0, le=1000,
                            doc="This factor multiplies the CPU time of MPL's own paths, in place "
                                "of cpu.path_scale.")
    eager_bytes: int = cost(1024, unit="bytes", ge=16, le=1 << 16,
                            doc="A message of at most this many bytes is sent before its receive "
                                "is known.")


class Mpi(Section):
    channel: str = cost("via", unit="", pattern="^(via|gm|tcp|vmmc)$",
                        doc="This layer carries messages between nodes. Between the CPUs of one "
                            "node shared memory carries them.")
    path_scale: Rate = cost(Fraction(1), unit="", ge=0, le=1000,
                            doc="This factor multiplies the CPU time of the layer's own paths, in "
                                "place of cpu.path_scale.")
    eager: int = cost(0, unit="bytes", ge=0, le=1 << 20,
                      doc="A message of at most this many bytes is sent with its data at once, "
                          "where it fits into a buffer of the channel. 0 takes the channel's own "
                          "limit: 1,024 of 'via', 8,000 of 'gm', 'tcp', 'vmmc' and shared "
                          "memory.")
    rendezvous: str = cost("write", unit="", pattern="^(write|read|bounce)$",
                           doc="In a long message the sender writes the data ('write'), the "
                               "receiver reads them ('read'), or they go in parts through the "
                               "channel's buffers ('bounce').")
    buffer_bytes: int = cost(8192, unit="bytes", ge=512, le=1 << 18, multiple_of=64,
                             doc="A buffer of channels 'via', 'gm' and 'vmmc', and the longest "
                                 "packet of 'tcp', has this many bytes with its header.")
    gm_buffers: str = cost("shares", unit="", pattern="^(shares|classes)$",
                           doc="Receive buffers of channel 'gm' are all of one size class, a share "
                               "for each other rank, counted by credits ('shares'), or some of "
                               "each class for whoever sends ('classes').")
    prepost: int = cost(12, unit="buffers", ge=6, le=128,
                        doc="This many receives wait on a VI when it is connected.")
    prepost_used: int = cost(32, unit="buffers", ge=6, le=128,
                             doc="This many receives wait on a VI after its first message.")
    registration_cache: int = cost(1024, unit="pages", ge=0, le=16384,
                                   doc="This many registered pages of users' buffers are kept "
                                       "after use; with 0 none is.")
    derived: str = cost("pack", unit="", pattern="^(pack|segments)$",
                        doc="Long messages of derived types are copied into one piece ('pack'), or "
                            "have a segment of the descriptor for each block ('segments').")
    program_cycles: Rate = cost(Fraction(0), unit="CPU cycles", ge=0, le=1000000000,
                                doc="A program with blocking calls computes this long before each "
                                    "of them.")

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
                      doc="A floating-point operation of mm takes this long; the value is fitted "
                          "to the SP-2's mm 128.")
    sort_key: Rate = cost(Fraction(220), unit="CPU cycles", ge=0, le=1000000,
                          doc="Both local sorts of sample-sort take this long for a key; the value "
                              "is fitted to the SP-2's smpsort lg.")
    radix_key: Rate = cost(Fraction(140), unit="CPU cycles", ge=0, le=1000000,
                           doc="One pass of radix-sort takes this long for a key; the value is "
                               "fitted to the SP-2's rdxsort lg.")
    is_key: Rate = cost(Fraction(112), unit="CPU cycles", ge=0, le=1000000,
                        doc="An iteration of NAS IS takes this long for a key.")
    ep_pair: Rate = cost(Fraction(906), unit="CPU cycles", ge=0, le=1000000,
                         doc="NAS EP takes this long for a pair of numbers.")
    cg_nonzero: Rate = cost(Fraction(33), unit="CPU cycles", ge=0, le=1000000,
                            doc="A product with the matrix of NAS CG takes this long for a "
                                "nonzero.")
    mg_point: Rate = cost(Fraction(60), unit="CPU cycles", ge=0, le=1000000,
                          doc="NAS MG takes this long for a point that an operation on a grid "
                              "writes.")
    ft_point: Rate = cost(Fraction(200), unit="CPU cycles", ge=0, le=1000000,
                          doc="A transform of NAS FT along one axis takes this long for a point.")
    lu_point: Rate = cost(Fraction(15200), unit="CPU cycles", ge=0, le=10000000,
                          doc="An iteration of NAS LU takes this long for a point.")
    sp_point: Rate = cost(Fraction(9200), unit="CPU cycles", ge=0, le=10000000,
                          doc="An iteration of NAS SP takes this long for a point.")
    bt_point: Rate = cost(Fraction(24000), unit="CPU cycles", ge=0, le=10000000,
                          doc="An iteration of NAS BT takes this long for a point.")
    fft_point: Rate = cost(Fraction(110), unit="CPU cycles", ge=0, le=1000000,
                           doc="A transform of fft along one axis takes this long for a point, "
                               "beside its memory traffic.")
    con_node: Rate = cost(Fraction(120), unit="CPU cycles", ge=0, le=1000000,
                          doc="The local search of con takes this long for a node, beside its "
                              "memory traffic.")
    con_edge: Rate = cost(Fraction(80), unit="CPU cycles", ge=0, le=1000000,
                          doc="The local search of con, and each later look at an edge, take this "
                              "long for an edge.")
    em3d_edge: Rate = cost(Fraction(30), unit="CPU cycles", ge=0, le=1000000,
                           doc="Half a step of em3d takes this long for an edge.")
    poll_interval: int = cost(20000, ge=0, le=1 << 30,
                              doc="A program that computes polls after this long; with 0 it never "
                                  "does.")

    @classmethod
    def cost_items(cls) -> tuple[str, ...]:
        """None: its items may be fractions of a CPU cycle, and no path has them."""
        return ()
