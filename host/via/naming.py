"""VipNSInit, VipNSGetHostByName, VipNSGetHostByAddr, VipNSShutdown."""

from typing import Any

from .attributes import NetAddress
from .caller import Caller
from .handles import Nic
from .process import Process
from .returns import VIP_RETURN

__all__ = ["Naming"]


class Naming(Caller):
    """The name service: node n of the fabric is called "noden". ERROR_NAMESERVICE: it does not know
    that name or address, or was not initialised."""

    def __init__(self, process: Process) -> None:
        super().__init__(process)
        self._named: set[int] = set()

    async def VipNSInit(self, nic: Nic, information: Any = None) -> VIP_RETURN:
        """Begin to use it; ``information`` means nothing to this one."""
        if not self._is_nic(nic):
            return VIP_RETURN.INVALID_PARAMETER
        self.port.spend(self.paths.query)
        if id(nic) in self._named:
            return VIP_RETURN.ERROR_NAMESERVICE
        self._named.add(id(nic))
        return VIP_RETURN.SUCCESS

    async def VipNSGetHostByName(self, nic: Nic,
                                 name: str) -> tuple[VIP_RETURN, NetAddress | None]:
        """The address of the node called ``name``."""
        if not self._is_nic(nic) or not isinstance(name, str):
            return VIP_RETURN.INVALID_PARAMETER, None
        self.port.spend(self.paths.query)
        for host in range(self.node.nodes):
            if id(nic) in self._named and name == f"node{host}":
                return VIP_RETURN.SUCCESS, NetAddress(host)
        return VIP_RETURN.ERROR_NAMESERVICE, None

    async def VipNSGetHostByAddr(self, nic: Nic,
                                 address: NetAddress) -> tuple[VIP_RETURN, str | None]:
        """The name of the node at ``address``."""
        if not self._is_nic(nic) or not self._is_address(address):
            return VIP_RETURN.INVALID_PARAMETER, None
        self.port.spend(self.paths.query)
        if id(nic) not in self._named or not 0 <= address.host < self.node.nodes:
            return VIP_RETURN.ERROR_NAMESERVICE, None
        return VIP_RETURN.SUCCESS, f"node{address.host}"

    async def VipNSShutdown(self, nic: Nic) -> VIP_RETURN:
        """Stop using it."""
        if not self._is_nic(nic):
            return VIP_RETURN.INVALID_PARAMETER
        self.port.spend(self.paths.query)
        if id(nic) not in self._named:
            return VIP_RETURN.ERROR_NAMESERVICE
        self._named.remove(id(nic))
        return VIP_RETURN.SUCCESS
