"""Communicators: point-to-point calls, and communicators made of others."""

from collections.abc import Awaitable
from typing import Any

from ...port.suspension import NOTHING
from .. import topologies
from ..calls import Call, Calls, called
from ..collective import neighbours
from ..collective.collectives import Collectives
from ..collective.nonblocking import begins
from ..constants import ANY_SOURCE, ANY_TAG, CONGRUENT, IDENT, PROC_NULL, UNEQUAL
from ..errors import ErrorClass, MpiError
from ..info import Info
from ..point_to_point.matching import Unexpected
from ..point_to_point.requests import Receive, Request
from ..point_to_point.status import Status
from ..progress.packets import Packet
from ..topologies import Topology
from . import intercommunicators, making
from .groups import Group

__all__ = ["Comm", "Message"]


class Message:
    """A message that Mprobe has found, and that nobody else can receive."""

    __slots__ = ("comm", "message")

    def __init__(self, comm: "Comm", message: Unexpected) -> None:
        self.comm = comm
        self.message = message


class Comm(Collectives):
    """The processes of ``group``, with contexts of their own: ``context`` for messages, the next
    one for collective calls.

    A buffer is an array, or a list of an array, or an address, with a count and a datatype
    (:meth:`~..data.buffers.Buffers.data`).

    Attributes
    ----------
    library
        The :class:`~..library.Mpi` whose communicator it is.
    group, context, rank, size
    name
        Its name in what is said of errors.
    title
        Its name for its program; of one that was made, empty until it gets one.
    peers, reach
        The processes to which its messages go, and their number.
    topology
        How its processes lie; None if they do in no way.
    info, attributes
        What its program has said of it, and attached to it.
    errhandler
        What a face of MPI does about errors; None: what it does by default. The library raises
        them.
    handle
        What a face of MPI gives a program's own error handler as the communicator.
    """

    def __init__(self, library: Any, group: Group, name: str, context: int) -> None:
        self.library = library
        self.calls: Calls = library.calls
        self.group = group
        self.name = name
        self.context = context
        self.rank = group.rank
        self.size = group.size
        self.peers = group
        self.reach = group.size
        self.title = ""
        self.topology: Topology | None = None
        self.info = Info()
        self.attributes: dict[int, Any] = {}
        self._data = library.buffers.data
        self.freed = False
        self.errhandler: Any = None
        self.handle: Any = None
        self.tags = 0
        """Added to the tags of collective messages."""
        self.nonblocking = 0
        """How many collective calls have only begun, ended or not."""
        self.talks = False
        """Whether a collective call has begun a message."""

    def Get_rank(self) -> int:
        """This process's rank."""
        return self.rank

    def Get_size(self) -> int:
        """Returns how many ranks there are."""
        return self.size

    def Get_name(self) -> str:
        return self.name

    def Set_name(self, name: str) -> None:
        self.name = self.title = name

    def Get_group(self) -> Group:
        """The group."""
        return self.group

    def is_root(self, root: int) -> bool:
        """Tells whether what counts at the root ``root`` alone counts here."""
        return self.rank == root

    def takes_part(self, root: int) -> bool:
        """Tells whether this rank's own part counts in a call with ``root``."""
        return True

    @property
    def remote_group(self) -> Group:
        """The other group.

        Raises
        ------
        MpiError
            There is one group alone.
        """
        if self.peers is self.group:
            raise MpiError(ErrorClass.ERR_COMM, f"rank {self.rank}: {self.name} has one group")
        return self.peers

    # Sends

    async def _begin(self, call: str, buffer: Any, rank: int, tag: int,
                     kind: Packet = Packet.EAGER, buffered: bool = False) -> Request:
        request, begun = self.library.send(call, self, self.context, self._data(buffer, call),
                                           rank, tag, kind, buffered)
        await begun
        return request

    def _end(self, request: Request) -> Awaitable[Any]:
        return NOTHING if request.done else self.library.until_done(request)

    @called(Call.Send)
    async def Send(self, buf: Any, dest: int, tag: int = 0) -> None:
        """Send; returns when ``buf`` may be changed."""
        request, begun = self.library.send("Send", self, self.context, self._data(buf, "Send"),
                                           dest, tag)
        await begun
        if not request.done:
            await self.library.until_done(request)

    @called(Call.Ssend)
    async def Ssend(self, buf: Any, dest: int, tag: int = 0) -> None:
        """Send; returns when the message has been matched."""
        await self._end(await self._begin("Ssend", buf, dest, tag, Packet.EAGER_SYNC))

    @called(Call.Rsend)
    async def Rsend(self, buf: Any, dest: int, tag: int = 0) -> None:
        """Send a message whose receive has been posted."""
        await self._end(await self._begin("Rsend", buf, dest, tag, Packet.EAGER_READY))

    @called(Call.Bsend)
    async def Bsend(self, buf: Any, dest: int, tag: int = 0) -> None:
        """Copy the message into the attached buffer; never waits for the peer."""
        await self._begin("Bsend", buf, dest, tag, buffered=True)

    @called(Call.Isend)
    async def Isend(self, buf: Any, dest: int, tag: int = 0) -> Request:
        """Begin Send."""
        return await self._begin("Isend", buf, dest, tag)

    @called(Call.Issend)
    async def Issend(self, buf: Any, dest: int, tag: int = 0) -> Request:
        """Begin Ssend."""
        return await self._begin("Issend", buf, dest, tag, Packet.EAGER_SYNC)

    @called(Call.Irsend)
    async def Irsend(self, buf: Any, dest: int, tag: int = 0) -> Request:
        """Begin Rsend."""
        return await self._begin("Irsend", buf, dest, tag, Packet.EAGER_READY)

    @called(Call.Ibsend)
    async def Ibsend(self, buf: Any, dest: int, tag: int = 0) -> Request:
        """Begin Bsend."""
        return await self._begin("Ibsend", buf, dest, tag, buffered=True)

    # Receives

    @called(Call.Recv)
    async def Recv(self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Status:
        """Receive; what came."""
        request, begun = self.library.receive("Recv", self, self.context,
                                              self._data(buf, "Recv"), source, tag)
        await begun
        if not request.done:
            await self.library.engine.until_done(request, request.describe)
        return self.library.taken(request)

    @called(Call.Irecv)
    async def Irecv(self, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Request:
        """Post a receive."""
        return await self._receive("Irecv", buf, source, tag)

    async def _receive(self, call: str, buffer: Any, source: int, tag: int,
                       message: Unexpected | None = None) -> Request:
        request, begun = self.library.receive(call, self, self.context, self._data(buffer, call),
                                              source, tag, message)
        await begun
        return request

    @called(Call.Sendrecv)
    async def Sendrecv(self, sendbuf: Any, dest: int, sendtag: int = 0, recvbuf: Any = None,
                       source: int = ANY_SOURCE, recvtag: int = ANY_TAG) -> Status:
        """Send and receive at once."""
        receive = await self._receive("Sendrecv", recvbuf, source, recvtag)
        self.talks = True
        send = await self._begin("Sendrecv", sendbuf, dest, sendtag)
        status = await self.library.until_done(receive)
        await self._end(send)
        return status

    @called(Call.Sendrecv_replace)
    async def Sendrecv_replace(self, buf: Any, dest: int, sendtag: int = 0,
                               source: int = ANY_SOURCE, recvtag: int = ANY_TAG) -> Status:
        """Send ``buf``, and receive into it what comes."""
        copy = await self._copied(buf, "Sendrecv_replace")
        send = await self._begin("Sendrecv_replace", copy, dest, sendtag)
        self.talks = True
        status = await self.library.until_done(
            await self._receive("Sendrecv_replace", buf, source, recvtag))
        await self._end(send)
        return status

    # Calls that have only begun

    Isendrecv = begins(Call.Isendrecv, Sendrecv, collective=False)
    Isendrecv_replace = begins(Call.Isendrecv_replace, Sendrecv_replace, collective=False)
    Ibarrier = begins(Call.Ibarrier, Collectives.Barrier)
    Ibcast = begins(Call.Ibcast, Collectives.Bcast)
    Ireduce = begins(Call.Ireduce, Collectives.Reduce)
    Iallreduce = begins(Call.Iallreduce, Collectives.Allreduce)
    Iscan = begins(Call.Iscan, Collectives.Scan)
    Iexscan = begins(Call.Iexscan, Collectives.Exscan)
    Ireduce_scatter = begins(Call.Ireduce_scatter, Collectives.Reduce_scatter)
    Ialltoall = begins(Call.Ialltoall, Collectives.Alltoall)
    Ialltoallv = begins(Call.Ialltoallv, Collectives.Alltoallv)
    Ialltoallw = begins(Call.Ialltoallw, Collectives.Alltoallw)
    Iallgather = begins(Call.Iallgather, Collectives.Allgather)
    Iallgatherv = begins(Call.Iallgatherv, Collectives.Allgatherv)
    Igather = begins(Call.Igather, Collectives.Gather)
    Igatherv = begins(Call.Igatherv, Collectives.Gatherv)
    Iscatter = begins(Call.Iscatter, Collectives.Scatter)
    Iscatterv = begins(Call.Iscatterv, Collectives.Scatterv)

    # Among neighbours

    Neighbor_allgather = neighbours.allgather
    Neighbor_allgatherv = neighbours.allgatherv
    Neighbor_alltoall = neighbours.alltoall
    Neighbor_alltoallv = neighbours.alltoallv
    Neighbor_alltoallw = neighbours.alltoallw
    Ineighbor_allgather = begins(Call.Ineighbor_allgather, neighbours.allgather)
    Ineighbor_allgatherv = begins(Call.Ineighbor_allgatherv, neighbours.allgatherv)
    Ineighbor_alltoall = begins(Call.Ineighbor_alltoall, neighbours.alltoall)
    Ineighbor_alltoallv = begins(Call.Ineighbor_alltoallv, neighbours.alltoallv)
    Ineighbor_alltoallw = begins(Call.Ineighbor_alltoallw, neighbours.alltoallw)

    # Probes

    @called(Call.Probe)
    async def Probe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Status:
        """Wait for a message; what it is. It can still be received."""
        if source == PROC_NULL:
            return Status(PROC_NULL, ANY_TAG, 0)
        return self._status(await self._found(source, tag, "Probe"))

    @called(Call.Iprobe)
    async def Iprobe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> Status | None:
        """Look for a message; what it is, or None."""
        library = self.library
        if source == PROC_NULL:
            return Status(PROC_NULL, ANY_TAG, 0)
        await library.engine.look()
        await library.spend()
        found = library.receiving.matching.find(self.context, source, tag)
        return None if found is None else self._status(found)

    @called(Call.Mprobe)
    async def Mprobe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG
                     ) -> tuple[Message, Status]:
        """Wait for a message, and take it out of the queue: only :meth:`Mrecv` receives it."""
        found = await self._found(source, tag, "Mprobe")
        self.library.receiving.matching.unexpected[self.context].remove(found)
        return Message(self, found), self._status(found)

    @called(Call.Improbe)
    async def Improbe(self, source: int = ANY_SOURCE, tag: int = ANY_TAG
                      ) -> tuple[Message, Status] | None:
        """Look for a message; as Mprobe, or None."""
        library = self.library
        await library.engine.look()
        await library.spend()
        found = library.receiving.matching.find(self.context, source, tag)
        if found is None:
            return None
        library.receiving.matching.unexpected[self.context].remove(found)
        return Message(self, found), self._status(found)

    @called(Call.Imrecv)
    async def Imrecv(self, buf: Any, message: Message) -> Request:
        """Begin Mrecv."""
        header = message.message.header
        return await self._receive("Imrecv", buf, header.source, header.tag, message.message)

    @called(Call.Mrecv)
    async def Mrecv(self, buf: Any, message: Message) -> Status:
        """Receive a message that Mprobe has found."""
        library, header = self.library, message.message.header
        return await library.until_done(await self._receive(
            "Mrecv", buf, header.source, header.tag, message.message))

    async def _found(self, source: int, tag: int, call: str) -> Unexpected:
        library = self.library
        matching = library.receiving.matching
        library.port.spend(library.prices.receive)
        if source != ANY_SOURCE and not 0 <= source < self.reach:
            raise MpiError(ErrorClass.ERR_RANK, f"rank {self.rank}: {call}: there is no rank "
                           f"{source} in {self.name}, which has 0 to {self.reach - 1}")
        found: list[Unexpected] = []

        def there() -> bool:
            one = matching.find(self.context, source, tag)
            if one is not None:
                found.append(one)
            return one is not None

        probe = Receive(library, 0, call, self, source, self.context, tag, self._data(None, call))
        await library.engine.until(there, probe.describe)
        return found[-1]

    @staticmethod
    def _status(message: Unexpected) -> Status:
        header = message.header
        return Status(header.source, header.tag, header.length)

    # Communicators

    Dup, Split, Split_type = making.dup, making.split, making.split_type
    Create, Create_group = making.create, making.create_group
    Idup = begins(Call.Idup, making.dup_alone)
    Create_cart, Cart_sub = topologies.create_cart, topologies.sub
    Create_graph = topologies.create_graph
    Create_dist_graph = topologies.create_dist_graph
    Create_dist_graph_adjacent = topologies.create_dist_graph_adjacent
    Create_intercomm = intercommunicators.create_intercomm

    async def Merge(self, high: bool = False) -> Any:
        """Refused: there is one group alone."""
        return self.remote_group

    def Free(self) -> None:
        """The communicator may not be used any more; what it has begun goes on."""
        self.freed = True
        self.library.dismiss(self)

    def Compare(self, other: "Comm") -> int:
        """0: the same; 1: the same processes; 2: in another order; 3: others."""
        if self is other:
            return IDENT
        if self.peers is not self.group or other.peers is not other.group:
            return self._compare_sides(other)
        return Group.Compare(self.group, other.group) or CONGRUENT

    def _compare_sides(self, other: "Comm") -> int:
        if self.peers is self.group or other.peers is other.group:
            return UNEQUAL
        return max(Group.Compare(self.group, other.group),
                   Group.Compare(self.peers, other.peers)) or CONGRUENT
