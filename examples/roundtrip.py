"""A program that runs on every node: node 0 times ten round trips to node 1.

``./nicbed run examples/roundtrip.py`` runs it.
"""

from nicbed.host.am import Gam


async def program(node):
    replies = []

    async def on_request(am, source, word):
        await am.reply(1, word + 1)              # handler 1 at the requester

    def on_reply(am, source, word):
        replies.append(word)

    gam = Gam(node, [on_request, on_reply])      # the same table on every node
    await gam.enable()
    times = []
    if node.number == 0:
        for n in range(10):
            begin = await node.port.flush()      # the cycle now
            await gam.request(1, 0, n)           # node 1, handler 0, one word
            await gam.wait(lambda n=n: len(replies) > n)
            times.append(await node.port.flush() - begin)
    await gam.disable()                          # serves the others until all are done
    return times
