"""VipConnectWait, VipConnectAccept, VipConnectReject, VipConnectRequest; VipConnectPeerRequest,
VipConnectPeerDone, VipConnectPeerWait; VipDisconnect."""

from ...layouts.via import ViState
from .attributes import NetAddress, RemoteAttributes
from .caller import Caller
from .channel import MessageKind
from .connections import Attempt, Connection, Waiter, mismatch, remote_attributes
from .handles import Nic, Vi
from .returns import VIP_RETURN

__all__ = ["Connecting"]

CONFIRMATION = 1024
"""An accepting server waits for the client's confirmation for this many ``via.retry_timeout``."""

Connected = tuple[VIP_RETURN, RemoteAttributes | None]


class Connecting(Caller):
    """Connections."""

    async def VipConnectWait(self, nic: Nic, local: NetAddress, timeout: float | None) -> tuple[
            VIP_RETURN, NetAddress | None, RemoteAttributes | None, Connection | None]:
        """Server: wait for a request to the discriminator of ``local``; return the client's address
        and attributes, and the connection to accept or reject."""
        if (not self._is_nic(nic) or not self._is_address(local)
                or local.host != self.node.number or not self._is_time(timeout)):
            return VIP_RETURN.INVALID_PARAMETER, None, None, None
        await self._enter()
        connections = self.kernel.connections
        waiter = Waiter(local.discriminator)
        connections.waiters.append(waiter)
        deadline = self._deadline(timeout)
        while waiter.arrived is None and await self.kernel.doze(deadline):
            pass
        connections.waiters.remove(waiter)
        connection = waiter.arrived
        await self._leave()
        if connection is None:
            return VIP_RETURN.TIMEOUT, None, None, None
        connection.nic = nic
        message = connection.message
        return (VIP_RETURN.SUCCESS, NetAddress(connection.node, message.local),
                remote_attributes(message), connection)

    async def VipConnectAccept(self, connection: Connection, vi: Vi) -> VIP_RETURN:
        """Server: connect ``vi``. What has to be the same at both ends is INVALID_... if it is not;
        the client is not told, so another VI, or a mended one, may be tried. TIMEOUT: the client
        has given up."""
        if (not self._is_connection(connection) or not self._is_vi(vi)
                or vi.nic is not connection.nic):
            return VIP_RETURN.INVALID_PARAMETER
        if vi.state is not ViState.IDLE or vi.pending or vi.lost:
            return VIP_RETURN.INVALID_STATE
        refused = mismatch(vi.attributes, connection.message)
        if refused is not None:
            return refused
        await self._enter()
        connection.open = False
        connections = self.kernel.connections
        await connections.accept(connection, vi)
        end = self.port.cycle + CONFIRMATION * connections.channel.timeout
        while (not connection.confirmed and not connection.gone
                and await self.kernel.doze(end)):
            pass
        if not connection.confirmed:
            await connections.disconnect(vi, tell=not connection.gone)
        return await self._leave(VIP_RETURN.SUCCESS if connection.confirmed
                                 else VIP_RETURN.TIMEOUT)

    async def VipConnectReject(self, connection: Connection) -> VIP_RETURN:
        """Server: reject the client's request."""
        if not self._is_connection(connection):
            return VIP_RETURN.INVALID_PARAMETER
        await self._enter()
        await self.kernel.connections.refuse(connection, MessageKind.REJECT)
        return await self._leave()

    async def VipConnectRequest(self, vi: Vi, local: NetAddress, remote: NetAddress,
                                timeout: float | None) -> Connected:
        """Client: connect ``vi`` to the server that waits at ``remote``. NO_MATCH: none waits now.
        REJECT: the server rejected it. TIMEOUT, INVALID_PARAMETER for one of 0; NOT_REACHABLE: no
        program runs on that node."""
        refused = self._unfit(vi, local, remote, timeout)
        if refused is not None:
            return refused, None
        await self._enter()
        connections = self.kernel.connections
        attempt = Attempt(connections.number(), vi, local, remote, self._deadline(timeout))
        vi.pending = True
        await connections.request(attempt)
        while attempt.result is None and await self.kernel.doze(attempt.deadline):
            pass
        connections.requests.pop(attempt.number, None)
        vi.pending = False
        await self._leave()
        return self._outcome(attempt)

    async def VipConnectPeerRequest(self, vi: Vi, local: NetAddress, remote: NetAddress,
                                    timeout: float | None) -> VIP_RETURN:
        """Peer: begin to connect ``vi`` to the VI whose peer request names ``local`` as its remote
        and ``remote`` as its local address. Returns at once."""
        refused = self._unfit(vi, local, remote, timeout)
        if refused is not None:
            return refused
        await self._enter()
        connections = self.kernel.connections
        vi.pending = True
        await connections.offer(Attempt(connections.number(), vi, local, remote,
                                        self._deadline(timeout)))
        return await self._leave()

    async def VipConnectPeerDone(self, vi: Vi) -> Connected:
        """Peer: return whether the connection is made (NOT_DONE: not yet)."""
        return await self._peer(vi, wait=False)

    async def VipConnectPeerWait(self, vi: Vi) -> Connected:
        """Peer: wait until the connection is made or the request's time-out has passed."""
        return await self._peer(vi, wait=True)

    async def VipDisconnect(self, vi: Vi) -> VIP_RETURN:
        """Bring the VI to idle, from any state. All posted descriptors complete as flushed; the
        peer's VI goes to the error state, and its consumer gets CONN_LOST."""
        if not self._is_vi(vi):
            return VIP_RETURN.INVALID_PARAMETER
        await self._enter()
        connections = self.kernel.connections
        attempt = self._attempt(vi)
        if attempt is not None:
            await connections.withdraw(attempt)
        await connections.disconnect(vi)
        return await self._leave()

    def _is_connection(self, connection: object) -> bool:
        return (isinstance(connection, Connection) and connection.open
                and self._is_nic(connection.nic))

    def _unfit(self, vi: Vi, local: NetAddress, remote: NetAddress,
               timeout: float | None) -> VIP_RETURN | None:
        """Why a request cannot be made."""
        if (not self._is_vi(vi) or not self._is_address(local) or not self._is_address(remote)
                or local.host != self.node.number or not self._is_time(timeout) or timeout == 0):
            return VIP_RETURN.INVALID_PARAMETER
        if vi.state is not ViState.IDLE or vi.pending or vi.lost:
            return VIP_RETURN.INVALID_STATE
        if remote.host not in self.node.active:
            return VIP_RETURN.NOT_REACHABLE
        return None

    def _outcome(self, attempt: Attempt) -> Connected:
        if attempt.result is None:
            return VIP_RETURN.TIMEOUT, None
        if attempt.result is not VIP_RETURN.SUCCESS or attempt.answer is None:
            return attempt.result, None
        return VIP_RETURN.SUCCESS, remote_attributes(attempt.answer)

    def _attempt(self, vi: Vi) -> Attempt | None:
        for attempt in self.kernel.connections.peers.values():
            if attempt.vi is vi:
                return attempt
        return None

    async def _peer(self, vi: Vi, wait: bool) -> Connected:
        if not self._is_vi(vi):
            return VIP_RETURN.INVALID_PARAMETER, None
        attempt = self._attempt(vi)
        if attempt is None:
            return VIP_RETURN.INVALID_STATE, None
        await self._enter()
        await self.kernel.attend()
        # An attempt whose VI is connected has the other end's word: it will say that it is ready.
        while attempt.result is None:
            late = (attempt.offer is None and attempt.deadline is not None
                    and self.port.cycle >= attempt.deadline)
            if late or not wait:
                break
            await self.kernel.doze(attempt.deadline if attempt.offer is None else None)
        if attempt.result is None and not late:
            return await self._leave(VIP_RETURN.NOT_DONE), None
        connections = self.kernel.connections
        if attempt.result is VIP_RETURN.SUCCESS:
            connections.peers.pop(attempt.number, None)
        else:
            await connections.withdraw(attempt)
        vi.pending = False
        await self._leave()
        return self._outcome(attempt)
