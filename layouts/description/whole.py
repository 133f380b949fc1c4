"""The whole description: its sections, and the combinations that cannot work."""

from collections.abc import Iterable, Mapping
from typing import Any, Self, TypeVar

from pydantic import ModelWrapValidatorHandler, ValidationInfo, model_validator

from ..doors import CORES, LAYERS, NICS, Core, Named, NicDesign
from ..fabric import graph_of
from ..packet import HEADER_BYTES
from .declared import DECLARED, Declared
from .draft import Draft
from .knob import Section
from .sections import filled, find, owned, owner, plugs
from .target import LONG_PACKET, MAX_PORTS

__all__ = ["Description"]

S = TypeVar("S", bound=Section)

OWNERS = "owners"
"""Key of a validation's context: layers from outside, by the names of their sections."""

TCP_HEADERS = 40
"""Bytes of the headers of IP and TCP, without options."""


class Description(Declared):
    """A whole NIC description: the nodes, what they run on and what joins them.

    Beside the sections that are declared here it has those that objects bring along, under the
    objects' names: of the NIC design and whatever else its knobs name, always; of layers, if they
    were given, or programs over them run.
    """


    @model_validator(mode="wrap")
    @classmethod
    def _whole(cls, data: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo
               ) -> Self:
        if not isinstance(data, Mapping):
            return handler(data)
        declared = {name: value for name, value in data.items() if name in cls.model_fields}
        given = {name: value for name, value in data.items() if name not in declared}
        made = handler(declared)
        extra = made.__pydantic_extra__
        assert extra is not None
        layers = (info.context or {}).get(OWNERS, {})
        for name, own in owned(dict(made), given, layers).items():
            if hasattr(cls, name) or name in cls.model_fields:
                raise ValueError(f"{own.door.kind} {name}: a description has a {name} of its own: "
                                 "one with knobs needs another name")
            extra[name] = filled(name, own, given.pop(name, {}))
        for name, value in given.items():
            if isinstance(value, Section):  # a change of an object has left it behind
                continue
            if (other := find(name)) is None:
                raise ValueError(f"{name}: no table is called {name}")
            raise ValueError(f"{name} = {value}: is of {other.door.kind} {name}, which this "
                             "description does not name")
        return made

    @model_validator(mode="after")
    def _combinations(self) -> "Description":
        if self.nic.attachment == "memory_bus" and self.bus.max_burst < 32:
            raise ValueError(f"bus.max_burst = {self.bus.max_burst}: must be at least a cache line "
                             "of 32 bytes where nic.attachment = 'memory_bus'")
        if self.nic.attachment == "memory_bus":
            for name, value, needed in (("cpu.line_bytes", self.cpu.line_bytes, 32),
                                        ("memory.width", self.memory.width, 8),
                                        ("cpu.cas_place", self.cpu.cas_place, "memory"),
                                        ("cpu.copy_by", self.cpu.copy_by, "cache")):
                if value != needed:
                    raise ValueError(f"{name} = {value}: must be {needed} where nic.attachment = "
                                     "'memory_bus'")
        if self.am.message_processor == "cpu":
            if self.node.cpus < 2:
                raise ValueError(f"am.message_processor = 'cpu': needs at least two CPUs a node "
                                 f"(node.cpus = {self.node.cpus})")
            if self.nic.processor != "none":
                raise ValueError(f"am.message_processor = 'cpu': drives a NIC without a processor "
                                 f"(nic.processor = {self.nic.processor})")
        if self.via.design == "firmware" and self.nic.processor == "none":
            raise ValueError("via.design = 'firmware': needs a NIC processor (nic.processor)")
        if self.via.design == "engine" and self.nic.processor != "none":
            raise ValueError(f"nic.processor = {self.nic.processor}: with via.design = 'engine' "
                             "there is no processor: a NIC has the one or the other")
        self._not_coherent()
        self._several_nics()
        self._long_packets()
        self._segments()
        if self.am.firmware != "am" and self.nic.processor == "none":
            raise ValueError(f"am.firmware = {self.am.firmware!r}: needs a NIC processor "
                             "(nic.processor)")
        if self.am.firmware == "elan" and self.processor.host_access != "uncached":
            raise ValueError("am.firmware = 'elan': needs processor.host_access = 'uncached', by "
                             "which it loads messages")
        if (self.am.bulk == "copy") != (self.am.firmware == "tb2"):
            raise ValueError(f"am.bulk = {self.am.bulk!r}: firmware 'tb2' (am.firmware) has "
                             "entries, to which data are copied: it needs 'copy', and nothing else "
                             "can")
        ports = self.fabric.nodes * self.node.cpus
        if ports > MAX_PORTS:
            raise ValueError(f"fabric.nodes * node.cpus = {ports}: must be at most {MAX_PORTS}, "
                             "the host ports of a target")
        graph_of(self)
        for line in self.design.needs(self):
            raise ValueError(line)
        return self

    def _not_coherent(self) -> None:
        if self.bus.coherent:
            return
        for name, value, needed in (
                ("nic.attachment", self.nic.attachment, ("io_bus", "local_bus")),
                ("node.cpus", self.node.cpus, (1,)), ("node.nics", self.node.nics, (1,)),
                ("cpu.copy_by", self.cpu.copy_by, ("cache",))):
            if value not in needed:
                raise ValueError(f"{name} = {value}: must be {' or '.join(map(str, needed))} where "
                                 "bus.coherent = false")

    def _several_nics(self) -> None:
        nics = self.node.nics
        if nics == 1:
            return
        if self.am.message_processor != "none":
            raise ValueError(f"node.nics = {nics}: must be 1 where am.message_processor = "
                             f"{self.am.message_processor!r}, which drives one NIC")
        addresses = self.fabric.nodes * nics
        if addresses > MAX_PORTS:
            raise ValueError(f"fabric.nodes * node.nics = {addresses}: must be at most "
                             f"{MAX_PORTS}, the wire addresses of a fabric")

    def _long_packets(self) -> None:
        if self.nic.mtu <= LONG_PACKET:
            return
        for name, value, needed in (
                ("nic.processor", self.nic.processor, ("none",)),
                ("nic.attachment", self.nic.attachment, ("io_bus", "local_bus")),
                ("via.design", self.via.design, ("auto", "kernel"))):
            if value not in needed:
                raise ValueError(f"nic.mtu = {self.nic.mtu}: must be at most {LONG_PACKET} where "
                                 f"{name} = {value!r}; NICs with rings, off the memory bus, take "
                                 "longer packets")

    def _segments(self) -> None:
        if self.tcp.mss > self.nic.mtu - TCP_HEADERS:
            raise ValueError(f"tcp.mss = {self.tcp.mss}: must be at most nic.mtu = {self.nic.mtu} "
                             f"less the headers of {TCP_HEADERS}")
        if self.tcp.socket_buffer < 2 * self.segment_bytes:
            raise ValueError(f"tcp.socket_buffer = {self.tcp.socket_buffer}: must hold two "
                             f"segments of {self.segment_bytes} bytes (tcp.mss, nic.mtu)")

    @property
    def design(self) -> NicDesign:
        """The NIC design that ``nic.design`` names."""
        return NICS.get(self.nic.design)

    @property
    def core(self) -> Core | None:
        """The core of the NIC processor that ``nic.processor`` names; None without a processor."""
        return None if self.nic.processor == "none" else CORES.get(self.nic.processor)

    def with_(self, values: Mapping[str, Any]) -> "Description":
        """The description with other ``values`` of knobs, by dotted name. A path is relative to the
        current folder.

        Raises
        ------
        KnobError
            A knob does not exist, or a value or a combination of values is wrong.
        """
        if not values:
            return self
        draft = Draft(dict(self))
        for name, value in values.items():
            draft.set(name, value)
        return self.remade(draft)

    def remade(self, draft: Draft) -> "Description":
        """Makes the description that ``draft`` holds.

        Raises
        ------
        KnobError
            A value or a combination of values is wrong.
        """
        layers = self._layers()
        return draft.made(lambda tables: type(self).model_validate(tables,
                                                                   context={OWNERS: layers}))

    def of_layers(self, names: Iterable[str]) -> "Description":
        """The description with the sections of the layers ``names``, as far as they have one of
        their own and it is not there.

        Raises
        ------
        KnobError
            A section is declared wrongly, or is named as another one.
        """
        missing = {str(name): name for name in names
                   if name not in DECLARED and not hasattr(self, name)
                   and LAYERS.get(name).knobs is not None}
        if not missing:
            return self
        layers = self._layers() | missing
        return Draft({**dict(self), **{name: {} for name in missing}}).made(
            lambda tables: type(self).model_validate(tables, context={OWNERS: layers}))

    def section(self, kind: type[S]) -> S:
        """Its section of class ``kind``, that of an object which brings one along; where it has
        none, one in which no knob was set."""
        for section in dict(self).values():
            if isinstance(section, kind):
                return section
        return kind()

    @property
    def outside(self) -> tuple[Named, ...]:
        """The names of the objects from outside on which it depends."""
        named = [value for section in dict(self).values() for key in plugs(type(section))
                 if isinstance(value := getattr(section, key), Named)]
        return tuple(named + [name for name in self._layers().values() if isinstance(name, Named)])

    def _layers(self) -> dict[str, str]:
        """The layers whose sections it has, by name."""
        return {name: found.owner for name, section in (self.__pydantic_extra__ or {}).items()
                if (found := owner(section)).door is LAYERS}

    def __reduce_ex__(self, protocol: Any) -> Any:
        if not self.__pydantic_extra__:
            return super().__reduce_ex__(protocol)
        return _restored, (self.model_dump(), self._layers())

    @property
    def segment_bytes(self) -> int:
        """Most data of a segment of TCP."""
        return self.tcp.mss or self.nic.mtu - TCP_HEADERS

    @property
    def slot_bytes(self) -> int:
        """Stride of the receive ring: completion word, header, payload; whole cache lines."""
        return -(-(8 + HEADER_BYTES + 16 + self.nic.mtu) // 64) * 64


def _restored(table: Mapping[str, Any], layers: Mapping[str, str]) -> Description:
    """A description in another process, whose classes of outside sections are others."""
    return Description.model_validate(table, context={OWNERS: layers})
