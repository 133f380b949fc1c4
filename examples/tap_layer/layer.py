"""tap_layer: messages of one frame over any NIC that has frames, and nothing else."""

from nicbed import Frames, Layer
from nicbed.host.endpoint import Endpoint, needs_no_loss
from nicbed.host.port.costs import Path
from nicbed.host.port.prices import prices
from nicbed.layouts.trace import Activity, Kind

__all__ = ["LAYER", "Prices", "TapLayerEndpoint"]

SEND = Path("tap_layer_send", call=1, load=2, alu=2)
"""What the layer itself does for a message, beside the NIC's driver."""
TAKE = Path("tap_layer_take", call=1, load=3, branch=1)
"""A message that has come, to the program."""


class Prices(prices(globals())):
    """The paths above as a CPU charges them."""


class TapLayerEndpoint(Endpoint):
    """A node's side of an exchange. The marks BEGIN and END bracket what the CPU does, by which
    benchmarks find o_s and o_r."""

    crowds = True
    lossy = True

    def __init__(self, node, exchange):
        super().__init__(node, exchange)
        self._frames = node.nic_driver(Frames)
        self._prices = node.service(Prices)
        self._message = node.allocate(max(8, exchange.size))

    @classmethod
    def largest(cls, description):
        return description.nic.mtu

    async def open(self):
        await self._frames.open()

    async def send(self, peer, stream=0):
        self.on_send(peer, stream)
        node, port = self.node, self.node.port
        while not await self._frames.room():
            await self.poll()
        begin = port.begin(Activity.REQUEST_SEND, 0, self._prices.send)
        number = await self._frames.send(node.address_on(peer), self._message,
                                         max(1, self.exchange.size))
        port.finish(begin, Activity.REQUEST_SEND, number)  # now the frame has a number

    async def poll(self):
        port = self.node.port
        begin = port.mark(Activity.EMPTY_POLL, Kind.BEGIN, 0)
        frame = await self._frames.poll()
        if frame is None:
            port.finish(begin, Activity.EMPTY_POLL, 0)
            return
        port.spend(self._prices.take)
        self.received += 1
        self.on_message(self.node.node_of(frame.source), 0)
        await self._frames.release(frame)
        # The look has found one: it was the handling's.
        port.finish(begin, Activity.REQUEST_HANDLE, frame.trace)

    async def close(self, spin=None):
        await self._frames.close()


LAYER = Layer(
    name="tap_layer",
    title="messages of one frame",
    drivers=(Frames,),
    needs_of_exchange=needs_no_loss,
    endpoint=TapLayerEndpoint,
)
