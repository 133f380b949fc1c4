"""The channel of kernel agents where CPUs share a NIC."""

import pytest
from nicbed.host.via.agent.channel import Message, MessageKind
from nicbed.host.via.kernel import Kernel

from tests.models.target import Model
from tests.programs.am import describe

END = 60_000


@pytest.mark.parametrize("apart", [0, 40, 200])
def test_messages_of_two_cpus_stay_whole(apart):
    """A message is two bursts of posted writes into the send window, and another CPU's may be
    ready as soon as the kernel has been left."""
    count, arrived = 5, []

    def sender(number):
        async def program(cpu):
            cpu.share_nic()
            kernel, port = cpu.kernel(Kernel), cpu.port
            async with kernel.lock.held():
                await kernel.start()
            await port.delay(10_000 + number * apart - await port.flush())
            await port.flush()
            for index in range(count):
                async with kernel.lock.held():
                    await kernel.connections.channel.send(
                        1 + number, MessageKind.GONE, Message(index, number, local=b"here"))
            while port.cycle < END:
                async with kernel.lock.held():
                    await kernel.doze(END)
            return kernel.connections.channel.resent
        return program

    async def receiver(node):
        kernel = node.kernel(Kernel)
        await kernel.start()

        async def deliver(source, kind, message):
            arrived.append((node.number - 1, message.vi, message.request, message.local))

        kernel.connections.channel.deliver = deliver
        while node.port.cycle < END:
            await kernel.doze(END)

    model = Model(describe({"fabric.nodes": 3, "node.cpus": 2, "bus.pio_write": 100}))
    run = model.run([[sender(0), sender(1)], [receiver, None], [receiver, None]], limit=4 * END)
    assert sorted(arrived) == [(number, number, index, b"here")
                               for number in range(2) for index in range(count)]
    assert run.results[0] == [0, 0]
