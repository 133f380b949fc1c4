"""The layer fm for the testbed."""

from collections.abc import Iterable

from ...layouts.description import Description
from ...layouts.doors.layer import Layer
from ...layouts.packet import Protocol
from ...layouts.trace import Activity
from ..gm.layer import needs

__all__ = ["LAYER"]


def _needs_of_exchange(description: Description, name: str) -> Iterable[str]:
    for fault in ("drop", "corrupt", "duplicate"):
        if probability := getattr(description.faults, fault):
            yield (f"faults.{fault} = {probability}: {name} sends nothing again: what "
                   "the network loses is lost, and what it brings twice is handled "
                   "twice; a benchmark would never end. A program of your own, by "
                   "nicbed run, may count what arrives")


LAYER = Layer(
    name="fm",
    title="Fast Messages 1.1, over firmware of the NIC processor",
    costs="nicbed.host.fm.costs",
    activities=(Activity.REQUEST_SEND, Activity.REQUEST_HANDLE, Activity.EMPTY_POLL,
                Activity.WINDOW_WAIT, Activity.CONTROL),
    protocol=(Protocol.FM,),
    drivers=("nicbed.host.nic.kinds:Queues",),
    needs=needs,
    needs_of_exchange=_needs_of_exchange,
    endpoint="nicbed.host.fm.endpoint:FmEndpoint",
)
