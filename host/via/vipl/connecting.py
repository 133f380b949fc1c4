"""VipConnectWait, VipConnectAccept, VipConnectReject, VipConnectRequest; VipConnectPeerRequest,
VipConnectPeerDone, VipConnectPeerWait; VipDisconnect."""

from ....layouts.via import ViState
from ..agent.channel import MessageKind
from ..agent.connections import Attempt, Connection, Waiter, mismatch, remote_attributes
from ..attributes import NetAddress, RemoteAttributes
from ..handles import Nic, Vi
from ..returns import VIP_RETURN
from .caller import Caller, kernel_call

__all__ = ["Connecting"]

CONFIRMATION = 1024
"""An accepting server waits for the client's confirmation for this many ``via.retry_timeout``."""

Connected = tuple[VIP_RETURN, RemoteAttributes | None]


class Connecting:
    """Connections between VIs."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._node = caller.node
        self._port = caller.port
        self._kernel = caller.kernel

    @kernel_call
    async def wait(self, nic: Nic, local: NetAddress, timeout: float | None) -> tuple[
            VIP_RETURN, NetAddress | None, RemoteAttributes | None, Connection | None]:
        if (not self._caller.is_nic(nic) or not self._caller.is_address(local)
                or local.host != self._node.number or not self._caller.is_time(timeout)):
            return VIP_RETURN.INVALID_PARAMETER, None, None, None
        await self._caller.enter()
        connections = self._kernel.connections
        waiter = Waiter(local.discriminator)
        connections.waiters.append(waiter)
        deadline = self._caller.deadline(timeout)
        while waiter.arrived is None and await self._kernel.doze(deadline):
            pass
        connections.waiters.remove(waiter)
        connection = waiter.arrived
        await self._caller.leave()
        if connection is None:
            return VIP_RETURN.TIMEOUT, None, None, None
        connection.nic = nic
        message = connection.message
        return (VIP_RETURN.SUCCESS, NetAddress(connection.node, message.local),
                remote_attributes(message), connection)

    @kernel_call
    async def accept(self, connection: Connection, vi: Vi) -> VIP_RETURN:
        if (not self._is_connection(connection) or not self._caller.is_vi(vi)
                or vi.nic is not connection.nic):
            return VIP_RETURN.INVALID_PARAMETER
        if vi.state is not ViState.IDLE or vi.pending or vi.lost:
            return VIP_RETURN.INVALID_STATE
        refused = mismatch(vi.attributes, connection.message)
        if refused is not None:
            return refused
        await self._caller.enter()
        connection.open = False
        connections = self._kernel.connections
        await connections.accept(connection, vi)
        end = self._port.cycle + CONFIRMATION * connections.channel.timeout
        while (not connection.confirmed and not connection.gone
                and await self._kernel.doze(end)):
            pass
        if not connection.confirmed:
            await connections.disconnect(vi, tell=not connection.gone)
        return await self._caller.leave(VIP_RETURN.SUCCESS if connection.confirmed
                                 else VIP_RETURN.TIMEOUT)

    @kernel_call
    async def reject(self, connection: Connection) -> VIP_RETURN:
        if not self._is_connection(connection):
            return VIP_RETURN.INVALID_PARAMETER
        await self._caller.enter()
        await self._kernel.connections.refuse(connection, MessageKind.REJECT)
        return await self._caller.leave()

    @kernel_call
    async def request(self, vi: Vi, local: NetAddress, remote: NetAddress,
                      timeout: float | None) -> Connected:
        refused = self._unfit(vi, local, remote, timeout)
        if refused is not None:
            return refused, None
        await self._caller.enter()
        connections = self._kernel.connections
        attempt = Attempt(connections.number(), vi, local, remote, self._caller.deadline(timeout))
        vi.pending = True
        await connections.request(attempt)
        while attempt.result is None and await self._kernel.doze(attempt.deadline):
            pass
        connections.requests.pop(attempt.number, None)
        vi.pending = False
        await self._caller.leave()
        return self._outcome(attempt)

    @kernel_call
    async def peer_request(self, vi: Vi, local: NetAddress, remote: NetAddress,
                           timeout: float | None) -> VIP_RETURN:
        refused = self._unfit(vi, local, remote, timeout)
        if refused is not None:
            return refused
        await self._caller.enter()
        connections = self._kernel.connections
        vi.pending = True
        await connections.offer(Attempt(connections.number(), vi, local, remote,
                                        self._caller.deadline(timeout)))
        return await self._caller.leave()

    async def peer_done(self, vi: Vi) -> Connected:
        return await self._peer(vi, wait=False)

    async def peer_wait(self, vi: Vi) -> Connected:
        return await self._peer(vi, wait=True)

    @kernel_call
    async def disconnect(self, vi: Vi) -> VIP_RETURN:
        if not self._caller.is_vi(vi):
            return VIP_RETURN.INVALID_PARAMETER
        await self._caller.enter()
        connections = self._kernel.connections
        attempt = self._attempt(vi)
        if attempt is not None:
            await connections.withdraw(attempt)
        await connections.disconnect(vi)
        return await self._caller.leave()

    def _is_connection(self, connection: object) -> bool:
        return (isinstance(connection, Connection) and connection.open
                and self._caller.is_nic(connection.nic))

    def _unfit(self, vi: Vi, local: NetAddress, remote: NetAddress,
               timeout: float | None) -> VIP_RETURN | None:
        """Why a request cannot be made, as a VIP_RETURN; None if it can."""
        caller = self._caller
        if (not caller.is_vi(vi) or not caller.is_address(local) or not caller.is_address(remote)
                or local.host != self._node.number or not caller.is_time(timeout) or timeout == 0):
            return VIP_RETURN.INVALID_PARAMETER
        if vi.state is not ViState.IDLE or vi.pending or vi.lost:
            return VIP_RETURN.INVALID_STATE
        if remote.host not in self._node.active:
            return VIP_RETURN.NOT_REACHABLE
        return None

    def _outcome(self, attempt: Attempt) -> Connected:
        if attempt.result is None:
            return VIP_RETURN.TIMEOUT, None
        if attempt.result is not VIP_RETURN.SUCCESS or attempt.answer is None:
            return attempt.result, None
        return VIP_RETURN.SUCCESS, remote_attributes(attempt.answer)

    def _attempt(self, vi: Vi) -> Attempt | None:
        for attempt in self._kernel.connections.peers.values():
            if attempt.vi is vi:
                return attempt
        return None

    @kernel_call
    async def _peer(self, vi: Vi, wait: bool) -> Connected:
        if not self._caller.is_vi(vi):
            return VIP_RETURN.INVALID_PARAMETER, None
        attempt = self._attempt(vi)
        if attempt is None:
            return VIP_RETURN.INVALID_STATE, None
        await self._caller.enter()
        await self._kernel.attend()
        late = False
        # The other end has answered an attempt with a connected VI, and will report that it is
        # ready.
        while attempt.result is None:
            late = (attempt.offer is None and attempt.deadline is not None
                    and self._port.cycle >= attempt.deadline)
            if late or not wait:
                break
            await self._kernel.doze(attempt.deadline if attempt.offer is None else None)
        if attempt.result is None and not late:
            return await self._caller.leave(VIP_RETURN.NOT_DONE), None
        connections = self._kernel.connections
        if attempt.result is VIP_RETURN.SUCCESS:
            connections.peers.pop(attempt.number, None)
        else:
            await connections.withdraw(attempt)
        vi.pending = False
        await self._caller.leave()
        return self._outcome(attempt)
