"""Knobs of the layer vmmc."""

from pydantic import model_validator

from ...layouts.description import Section, cost
from ...layouts.description.knob import power_of_two

__all__ = ["Knobs"]


class Knobs(Section):
    """Section ``[vmmc]`` of a description."""

    translation: str = cost("utlb", unit="", pattern="^(utlb|interrupt)$",
                            doc="On a miss of its translation cache the NIC fetches from the "
                                "process' table in host memory ('utlb'), or interrupts the kernel, "
                                "which fills the cache ('interrupt').")
    reliable: bool = cost(True, unit="",
                          doc="A NIC numbers packets and sends again what is not acknowledged. If "
                              "false, a send is over when it has left.")
    short: int = cost(128, unit="bytes", ge=0, le=128,
                      doc="Sends of at most this many bytes go by PIO into the send queue, longer "
                          "ones by DMA.")
    queue_slots: int = cost(32, unit="slots", ge=4, le=32,
                            doc="A process' send queue has this many slots, a power of two.")
    window: int = cost(16, unit="packets", ge=1, le=16,
                       doc="A NIC has at most this many unacknowledged packets to a node.")
    retry_timeout: int = cost(50000, unit="cycles", ge=100, le=1 << 28,
                              doc="After this long without progress the firmware sends again what "
                                  "has not been acknowledged.")
    retries: int = cost(12, unit="times", ge=1, le=30,
                        doc="A node has failed after this many time-outs in a row.")
    imports: int = cost(512, unit="pages", ge=1, le=8192,
                        doc="The outgoing page table of a NIC has this many entries.")
    exports: int = cost(512, unit="pages", ge=1, le=8192,
                        doc="The incoming page table of a NIC has this many entries.")
    translations: int = cost(256, unit="entries", ge=4, le=4096,
                             doc="The NIC's translation cache has this many entries, a power of "
                                 "two.")
    ways: int = cost(2, unit="ways", ge=1, le=4,
                     doc="A set of the translation cache has this many ways, a power of two; the "
                         "one used least recently is replaced.")
    prefetch: int = cost(4, unit="entries", ge=1, le=8,
                         doc="A miss brings the translations of this many pages into the cache.")
    work_send: int = cost(0, unit="NIC processor cycles", ge=0, le=100000,
                          doc="The firmware works this much longer for each packet that it sends.")
    work_receive: int = cost(0, unit="NIC processor cycles", ge=0, le=100000,
                             doc="The firmware works this much longer for each packet of data that "
                                 "it receives.")

    @model_validator(mode="after")
    def _combinations(self) -> "Knobs":
        for name in ("queue_slots", "translations", "ways"):
            power_of_two(f"vmmc.{name}", getattr(self, name))
        return self
