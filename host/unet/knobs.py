"""Knobs of the layer unet."""

from pydantic import model_validator

from ...layouts.description import Section, cost
from ...layouts.description.knob import power_of_two

__all__ = ["Knobs"]


class Knobs(Section):
    """Section ``[unet]`` of a description."""

    buffers: str = cost("segment", unit="", pattern="^(segment|direct|tlb)$",
                        doc="Buffers of messages are in the endpoint's pinned 'segment', to and "
                            "from which programs copy; in any registered memory ('direct'); or "
                            "anywhere, by a 'tlb' in the NIC, which asks the kernel for what it "
                            "misses.")
    tlb_entries: int = cost(64, unit="pages", ge=2, le=64,
                            doc="The NIC holds the translations of this many pages, for "
                                "unet.buffers = 'direct' and 'tlb'.")
    tlb_ways: int = cost(4, unit="pages", ge=1, le=64,
                         doc="A page's translation has one of so many places among them, of which "
                             "the least recently used leaves.")
    work_send: int = cost(0, unit="NIC processor cycles", ge=0, le=100000,
                          doc="The firmware works this much longer for each packet that it sends.")
    work_receive: int = cost(0, unit="NIC processor cycles", ge=0, le=100000,
                             doc="The firmware works this much longer for each packet that it "
                                 "receives.")

    @model_validator(mode="after")
    def _combinations(self) -> "Knobs":
        for name in ("tlb_entries", "tlb_ways"):
            power_of_two(f"unet.{name}", getattr(self, name))
        if self.tlb_ways > self.tlb_entries:
            raise ValueError(f"unet.tlb_ways = {self.tlb_ways}: must be at most unet.tlb_entries = "
                             f"{self.tlb_entries}")
        return self
