"""VipNSInit, VipNSGetHostByName, VipNSGetHostByAddr, VipNSShutdown."""

from typing import Any

from ..attributes import NetAddress
from ..handles import Nic
from ..returns import VIP_RETURN
from .caller import Caller

__all__ = ["Naming"]


class Naming:
    """The name service."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._node = caller.node
        self._port = caller.port
        self._paths = caller.paths
        self._named: set[int] = set()

    async def begin(self, nic: Nic, information: Any = None) -> VIP_RETURN:
        if not self._caller.is_nic(nic):
            return VIP_RETURN.INVALID_PARAMETER
        self._port.spend(self._paths.query)
        if id(nic) in self._named:
            return VIP_RETURN.ERROR_NAMESERVICE
        self._named.add(id(nic))
        return VIP_RETURN.SUCCESS

    async def host_by_name(self, nic: Nic,
                           name: str) -> tuple[VIP_RETURN, NetAddress | None]:
        if not self._caller.is_nic(nic) or not isinstance(name, str):
            return VIP_RETURN.INVALID_PARAMETER, None
        self._port.spend(self._paths.query)
        for host in range(self._node.nodes):
            if id(nic) in self._named and name == f"node{host}":
                return VIP_RETURN.SUCCESS, NetAddress(host)
        return VIP_RETURN.ERROR_NAMESERVICE, None

    async def host_by_address(self, nic: Nic,
                              address: NetAddress) -> tuple[VIP_RETURN, str | None]:
        if not self._caller.is_nic(nic) or not self._caller.is_address(address):
            return VIP_RETURN.INVALID_PARAMETER, None
        self._port.spend(self._paths.query)
        if id(nic) not in self._named or not 0 <= address.host < self._node.nodes:
            return VIP_RETURN.ERROR_NAMESERVICE, None
        return VIP_RETURN.SUCCESS, f"node{address.host}"

    async def end(self, nic: Nic) -> VIP_RETURN:
        if not self._caller.is_nic(nic):
            return VIP_RETURN.INVALID_PARAMETER
        self._port.spend(self._paths.query)
        if id(nic) not in self._named:
            return VIP_RETURN.ERROR_NAMESERVICE
        self._named.remove(id(nic))
        return VIP_RETURN.SUCCESS
