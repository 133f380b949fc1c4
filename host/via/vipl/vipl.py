"""VIPL: the Virtual Interface Provider Library of one process, all calls under their own names.

The calls are implemented in :mod:`.opening`, :mod:`.registering`, :mod:`.endpoints`,
:mod:`.connecting`, :mod:`.posting`, :mod:`.completing`, :mod:`.completion_queues` and
:mod:`.naming`. These files share :class:`~.caller.Caller`.
"""

from collections.abc import Callable
from typing import Any

from ...kernel.process import Process
from ...port.port import Watch
from ..agent.connections import Connection
from ..attributes import MemAttributes, NetAddress, NicAttributes, RemoteAttributes, ViAttributes
from ..handles import Cq, Nic, Ptag, Vi
from ..returns import VIP_RETURN
from .caller import Caller
from .completing import EMPTY_CHECK, Completing, Done
from .completion_queues import CompletionQueues, Found
from .connecting import Connected, Connecting
from .endpoints import Endpoints, ViStatus
from .naming import Naming
from .opening import Opening
from .posting import Posting
from .registering import Registering

__all__ = ["Vipl"]

SUCCESS = VIP_RETURN.SUCCESS


class Vipl:
    """``vipl = Vipl(process)``; ``result, nic = await vipl.VipOpenNic("nic0")``.

    All calls are coroutines. A call returns a :class:`~nicbed.host.via.returns.VIP_RETURN`; a call
    with results returns a tuple of a VIP_RETURN and the results, which are None if it failed. No
    call raises an exception for a consumer's mistake. Every call returns INVALID_PARAMETER for
    handles of other processes, for closed handles, and for values that are no handle.

    Posting waits only for room for the doorbell. Errors in a descriptor are reported by its
    completion. A descriptor that the NIC cannot read (bad address or handle, misaligned) raises the
    asynchronous error POST_DESC.

    A completion call returns the address of the oldest completed descriptor. It returns
    DESCRIPTOR_ERROR with a descriptor that completed with an error, and with None if nothing is
    posted. Waits and notifies on a queue that is bound to a completion queue return
    INVALID_PARAMETER.

    In the name service node n of the fabric has the name "noden", for example "node0".
    ERROR_NAMESERVICE: the name or address is unknown, or the name service was not initialised.

    Attributes
    ----------
    posting, completing, completion_queues
        What calls do once their handles have been found sound: for a layer on VIs of its own, which
        calls it for each message.
    """

    def __init__(self, process: Process) -> None:
        self._caller = caller = Caller(process)
        self.process = process
        self.node = process.node
        self._port = caller.port
        self.kernel = caller.kernel
        self.provider = caller.provider
        self._queues = caller.provider.queues
        self._opening = Opening(caller)
        self._registering = Registering(caller)
        self._endpoints = Endpoints(caller)
        self._connecting = Connecting(caller)
        self.posting = Posting(caller)
        self.completing = Completing(caller)
        self.completion_queues = CompletionQueues(caller)
        self._naming = Naming(caller)

    @property
    def spin(self) -> int:
        """Cycles for which a call that waits spins before it gives up the CPU; ``via.spin`` at
        first."""
        return self._caller.spin

    @spin.setter
    def spin(self, cycles: int) -> None:
        self._caller.spin = cycles

    def awaits(self, cq: Cq) -> tuple[list[Watch], int] | None:
        """No call of VIPL: for a process that also waits for something else than ``cq``. The words
        that VipCQWait would poll, and the cycles after which VipCQDone has to be called whatever
        they say. None if it would find an entry at once."""
        return self.completion_queues.awaits(cq)

    async def next(self, cq: Cq, *, wait: bool) -> tuple[*Found, int | None]:
        """No call of VIPL, an extension of nicbed: VipCQDone, or VipCQWait without a time-out if
        ``wait``, and then VipSendDone or VipRecvDone of the queue that has the completion. Beside
        their results the descriptor, None if there is none. ``cq`` must be one of this process."""
        # As those calls are, in one coroutine: a message of MPI takes Python 4 % fewer calls.
        queues, completing, kernel = self.completion_queues, self.completing, self.kernel
        port, checks, paths = self._port, self._queues, self._caller.paths
        if not wait:
            begin = port.begin(EMPTY_CHECK, 0, paths.cq_check)
            await checks.cq_check(cq)
            found = queues.checked(cq, begin) or await queues.check_on(cq, begin)
            await kernel.attend(found[0] is SUCCESS)
        elif spin := self._caller.spin:
            begin = port.begin(EMPTY_CHECK, 0, paths.wait)
            end = port.cycle + spin
            await checks.cq_check(cq, kernel.until(end))
            found = queues.spun(cq) or await queues.spin_on(cq, end, None)
            await kernel.attend(found[0] is SUCCESS)
        else:
            found = await queues.wait(cq, None)
        code, vi, receive = found
        if vi is None:
            return code, None, None, None
        queue = vi.receive if receive else vi.send
        begin = port.begin(EMPTY_CHECK, 0, paths.check)
        await completing.check(queue)
        code, descriptor = completing.checked(queue, begin) or await completing.check_on(queue,
                                                                                       begin)
        await kernel.attend(descriptor is not None)
        return code, vi, receive, descriptor

    @property
    def post_entries(self) -> int:
        """Entries of a block of the host port that a post takes at most, for :meth:`.Port.room`;
        0 if it may wait in any case."""
        return self.provider.posts.entries

    async def compute(self, cycles: int) -> None:
        """No call of VIPL: computation of ``cycles`` target cycles, which packets and timers of the
        kernel agent interrupt. During any other they wait for the next call."""
        await self.kernel.start()
        await self.kernel.compute(cycles)

    async def settle(self, nic: Nic) -> None:
        """No call of VIPL: for a process that ends. Waits until what it has sent on its VIs reaches
        their peers without it. A real kernel goes on when a process has ended; this one runs in
        calls."""
        await self._opening.settle(nic)

    # NICs

    async def VipOpenNic(self, name: str) -> tuple[VIP_RETURN, Nic | None]:
        """Open the NIC called ``name`` ("nic0"). Each call returns another handle. ERROR_RESOURCE:
        the node's memory has no room for the kernel agent's tables."""
        return await self._opening.open(name)

    async def VipCloseNic(self, nic: Nic) -> VIP_RETURN:
        """Close the NIC. ERROR_RESOURCE while VIs, completion queues, regions or protection tags of
        this handle exist."""
        return await self._opening.close(nic)

    async def VipQueryNic(self, nic: Nic) -> tuple[VIP_RETURN, NicAttributes | None]:
        """Attributes of the NIC."""
        return await self._opening.query(nic)

    async def VipErrorCallback(self, nic: Nic, context: Any,
                               handler: Callable[..., Any] | None) -> VIP_RETURN:
        """Call ``handler(context, ErrorDescriptor)`` at asynchronous errors; it may be a coroutine
        function. None: errors are logged again (logger "nicbed.via")."""
        return await self._opening.error_callback(nic, context, handler)

    # Protection tags and registered memory

    async def VipCreatePtag(self, nic: Nic) -> tuple[VIP_RETURN, Ptag | None]:
        """Create a protection tag that differs from all others."""
        return await self._registering.create_tag(nic)

    async def VipDestroyPtag(self, nic: Nic, tag: Ptag) -> VIP_RETURN:
        """Destroy a protection tag. ERROR_RESOURCE while VIs or regions have it."""
        return await self._registering.destroy_tag(nic, tag)

    async def VipRegisterMem(self, nic: Nic, va: int, length: int,
                             attributes: MemAttributes) -> tuple[VIP_RETURN, int | None]:
        """Pin ``length`` bytes from ``va`` and give the NIC access to them. Returns a memory
        handle, which is never reused. ERROR_RESOURCE: no room in the translation table, or
        (host-supplied physical addresses) a page would get a second tag."""
        return await self._registering.register(nic, va, length, attributes)

    async def VipDeregisterMem(self, nic: Nic, va: int, handle: int) -> VIP_RETURN:
        """Unpin the region that begins at ``va``. After the return no access by ``handle``
        succeeds, now or later."""
        return await self._registering.deregister(nic, va, handle)

    async def VipQueryMem(self, nic: Nic, va: int,
                          handle: int) -> tuple[VIP_RETURN, MemAttributes | None]:
        """Attributes of the region."""
        return await self._registering.query(nic, va, handle)

    async def VipSetMemAttributes(self, nic: Nic, va: int, handle: int,
                                  attributes: MemAttributes) -> VIP_RETURN:
        """Change the attributes of the region. They are in force when the call returns."""
        return await self._registering.set_attributes(nic, va, handle, attributes)

    # VIs

    async def VipCreateVi(self, nic: Nic, attributes: ViAttributes, send_cq: Cq | None = None,
                          receive_cq: Cq | None = None) -> tuple[VIP_RETURN, Vi | None]:
        """Create an idle VI, with its queues bound to completion queues if given. ERROR_RESOURCE:
        the number of VIs that VipQueryNic allows is reached."""
        return await self._endpoints.create(nic, attributes, send_cq, receive_cq)

    async def VipDestroyVi(self, vi: Vi) -> VIP_RETURN:
        """Destroy a VI. It must be idle (else INVALID_STATE) with empty queues (else
        ERROR_RESOURCE). VipDisconnect flushes the queues of an idle VI."""
        return await self._endpoints.destroy(vi)

    async def VipQueryVi(self, vi: Vi) -> tuple[VIP_RETURN, ViStatus | None]:
        """State and attributes of the VI, and whether its queues are empty."""
        return await self._endpoints.query(vi)

    async def VipSetViAttributes(self, vi: Vi, attributes: ViAttributes) -> VIP_RETURN:
        """Change the attributes of an idle VI (else INVALID_STATE)."""
        return await self._endpoints.set_attributes(vi, attributes)

    # Connections

    async def VipConnectWait(self, nic: Nic, local: NetAddress, timeout: float | None) -> tuple[
            VIP_RETURN, NetAddress | None, RemoteAttributes | None, Connection | None]:
        """Server: wait for a request to the discriminator of ``local``. Returns the client's
        address and attributes, and the connection to accept or reject."""
        return await self._connecting.wait(nic, local, timeout)

    async def VipConnectAccept(self, connection: Connection, vi: Vi) -> VIP_RETURN:
        """Server: connect ``vi``. If an attribute that must be equal at both ends differs, the call
        returns INVALID_... and the client is not informed, so the server may try again with another
        VI or other attributes. TIMEOUT: the client has given up."""
        return await self._connecting.accept(connection, vi)

    async def VipConnectReject(self, connection: Connection) -> VIP_RETURN:
        """Server: reject the client's request."""
        return await self._connecting.reject(connection)

    async def VipConnectRequest(self, vi: Vi, local: NetAddress, remote: NetAddress,
                                timeout: float | None) -> Connected:
        """Client: connect ``vi`` to the server that waits at ``remote``. NO_MATCH: no server waits
        there now. REJECT: the server rejected the request. TIMEOUT: none was answered in time;
        INVALID_PARAMETER: the time-out is 0; NOT_REACHABLE: no program runs on that node."""
        return await self._connecting.request(vi, local, remote, timeout)

    async def VipConnectPeerRequest(self, vi: Vi, local: NetAddress, remote: NetAddress,
                                    timeout: float | None) -> VIP_RETURN:
        """Peer: begin to connect ``vi`` to the VI whose peer request has ``local`` as its remote
        address and ``remote`` as its local address. Returns at once."""
        return await self._connecting.peer_request(vi, local, remote, timeout)

    async def VipConnectPeerDone(self, vi: Vi) -> Connected:
        """Peer: check whether the connection is made (NOT_DONE: not yet)."""
        return await self._connecting.peer_done(vi)

    async def VipConnectPeerWait(self, vi: Vi) -> Connected:
        """Peer: wait until the connection is made or the request's time-out has passed."""
        return await self._connecting.peer_wait(vi)

    async def VipDisconnect(self, vi: Vi) -> VIP_RETURN:
        """Bring the VI to idle, from any state. All posted descriptors complete as flushed; the
        peer's VI goes to the error state, and its consumer gets CONN_LOST."""
        return await self._connecting.disconnect(vi)

    # Posting

    async def VipPostSend(self, vi: Vi, descriptor: int, handle: int) -> VIP_RETURN:
        """Post the send, RDMA write or RDMA read descriptor at address ``descriptor``, in memory
        registered as ``handle``."""
        if not self._caller.may_post(vi, descriptor, handle):
            return VIP_RETURN.INVALID_PARAMETER
        return await self.posting.post(vi.send, descriptor, handle) or SUCCESS

    async def VipPostRecv(self, vi: Vi, descriptor: int, handle: int) -> VIP_RETURN:
        """Post a receive descriptor."""
        if not self._caller.may_post(vi, descriptor, handle):
            return VIP_RETURN.INVALID_PARAMETER
        return await self.posting.post(vi.receive, descriptor, handle) or SUCCESS

    # Completions, out of work queues

    async def VipSendDone(self, vi: Vi) -> Done:
        """The oldest send, if it is done; else NOT_DONE."""
        if not self._caller.is_vi(vi):
            return VIP_RETURN.INVALID_PARAMETER, None
        return await self.completing.done(vi.send)

    async def VipRecvDone(self, vi: Vi) -> Done:
        """The oldest receive, if it is done; else NOT_DONE."""
        if not self._caller.is_vi(vi):
            return VIP_RETURN.INVALID_PARAMETER, None
        return await self.completing.done(vi.receive)

    async def VipSendWait(self, vi: Vi, timeout: float | None) -> Done:
        """Wait until the oldest send is done; TIMEOUT after ``timeout`` milliseconds."""
        if not self._caller.is_vi(vi):
            return VIP_RETURN.INVALID_PARAMETER, None
        return await self.completing.wait(vi.send, timeout)

    async def VipRecvWait(self, vi: Vi, timeout: float | None) -> Done:
        """Wait until the oldest receive is done. Spins for ``via.spin`` cycles, then arms the queue
        and gives up the CPU until the interrupt."""
        if not self._caller.is_vi(vi):
            return VIP_RETURN.INVALID_PARAMETER, None
        return await self.completing.wait(vi.receive, timeout)

    async def VipSendNotify(self, vi: Vi, context: Any, handler: Callable[..., Any]) -> VIP_RETURN:
        """Call ``handler(context, nic, vi, descriptor)`` once, with the next send that is done and
        not yet handed out, at once if there is one. Handlers queue."""
        if not self._caller.is_vi(vi):
            return VIP_RETURN.INVALID_PARAMETER
        return await self.completing.notify(vi.send, context, handler)

    async def VipRecvNotify(self, vi: Vi, context: Any, handler: Callable[..., Any]) -> VIP_RETURN:
        """The same for receives."""
        if not self._caller.is_vi(vi):
            return VIP_RETURN.INVALID_PARAMETER
        return await self.completing.notify(vi.receive, context, handler)

    # Completion queues

    async def VipCreateCQ(self, nic: Nic, entries: int) -> tuple[VIP_RETURN, Cq | None]:
        """Create a completion queue for ``entries`` completions. ERROR_RESOURCE: ``via.cqs`` queues
        exist already, or there is no room for it."""
        return await self.completion_queues.create(nic, entries)

    async def VipDestroyCQ(self, cq: Cq) -> VIP_RETURN:
        """Destroy a completion queue. ERROR_RESOURCE while work queues are bound to it."""
        return await self.completion_queues.destroy(cq)

    async def VipResizeCQ(self, cq: Cq, entries: int) -> VIP_RETURN:
        """Change the queue's size to ``entries`` completions. Completions in it are kept."""
        return await self.completion_queues.resize(cq, entries)

    async def VipCQDone(self, cq: Cq) -> Found:
        """The oldest completion, if there is one; else NOT_DONE. VipSendDone or VipRecvDone then
        returns its descriptor."""
        if not self._caller.is_cq(cq):
            return VIP_RETURN.INVALID_PARAMETER, None, None
        return await self.completion_queues.done(cq)

    async def VipCQWait(self, cq: Cq, timeout: float | None) -> Found:
        """Wait for the oldest completion; TIMEOUT after ``timeout`` milliseconds. Spins, then gives
        up the CPU, as VipRecvWait does."""
        if not self._caller.is_cq(cq):
            return VIP_RETURN.INVALID_PARAMETER, None, None
        return await self.completion_queues.wait(cq, timeout)

    async def VipCQNotify(self, cq: Cq, context: Any, handler: Callable[..., Any]) -> VIP_RETURN:
        """Call ``handler(context, nic, vi, receive)`` once, with an entry that is there or with the
        next one. Handlers queue in order."""
        return await self.completion_queues.notify(cq, context, handler)

    # The name service

    async def VipNSInit(self, nic: Nic, information: Any = None) -> VIP_RETURN:
        """Begin to use the name service. ``information`` is ignored."""
        return await self._naming.begin(nic, information)

    async def VipNSGetHostByName(self, nic: Nic,
                                 name: str) -> tuple[VIP_RETURN, NetAddress | None]:
        """The address of the node called ``name``."""
        return await self._naming.host_by_name(nic, name)

    async def VipNSGetHostByAddr(self, nic: Nic,
                                 address: NetAddress) -> tuple[VIP_RETURN, str | None]:
        """The name of the node at ``address``."""
        return await self._naming.host_by_address(nic, address)

    async def VipNSShutdown(self, nic: Nic) -> VIP_RETURN:
        """End the use of the name service."""
        return await self._naming.end(nic)
