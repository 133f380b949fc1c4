"""A window: the calls on it, under MPI's names."""

from typing import Any

from ..calls import Call, Calls, called
from ..communicators.groups import Group
from ..constants import ANY_TAG, PROC_NULL
from ..data.buffers import Buffers, Data
from ..data.copies import Piece
from ..data.datatypes import BYTE, Datatype, element_name, element_of, of_dtype
from ..data.operators import NO_OP, REPLACE, SUM, Op
from ..errors import ErrorClass, MpiError
from ..info import Info
from ..point_to_point.requests import Request
from ..point_to_point.status import Status
from ..progress.packets import Packet
from .atomic import dtype_of, number_of, operator_number
from .epochs import (
    MODE_NOCHECK,
    MODE_NOPRECEDE,
    MODE_NOPUT,
    MODE_NOSTORE,
    MODE_NOSUCCEED,
    Epochs,
)
from .locks import EXCLUSIVE as LOCK_EXCLUSIVE
from .locks import SHARED as LOCK_SHARED
from .memory import Memory
from .operation import Operation

__all__ = ["ALLOCATE", "CREATE", "DYNAMIC", "LOCK_EXCLUSIVE", "LOCK_SHARED", "MODE_NOCHECK",
           "MODE_NOPRECEDE", "MODE_NOPUT", "MODE_NOSTORE", "MODE_NOSUCCEED", "SHARED", "Win"]

CREATE, ALLOCATE, DYNAMIC, SHARED = 1, 2, 3, 4
"""Flavors, as MPI numbers them in constants of this implementation."""
UNIFIED = 2

SWAPPED = ("integer", "logical", "byte")
"""Elements that Compare_and_swap may compare."""


class Win:
    """A window of the processes of ``comm``, a communicator of its own.

    A target is None, a displacement, or (displacement, count, datatype), where what is left out is
    as at the origin. Displacements are in the target's units; in a window of flavor DYNAMIC they
    are addresses.

    Attributes
    ----------
    library, group, name, rank, size
    number
        By which packets name it.
    flavor
        CREATE, ALLOCATE, DYNAMIC or SHARED.
    array, unit
        This process's memory of the window, None if it is DYNAMIC; bytes of a displacement.
    memory
        What others reach of this process.
    errhandler, handle
        As of a communicator.
    """

    def __init__(self, windows: Any, comm: Any, name: str, flavor: int, array: Any, unit: int,
                 memory: Memory) -> None:
        self.library = windows.library
        self.calls: Calls = windows.library.calls
        self.comm = comm
        self.group: Group = comm.group
        self.rank: int = comm.rank
        self.size: int = comm.size
        self.name = name
        self.label = ""
        """The name that the program has given it."""
        self.number: int = comm.context
        self.flavor = flavor
        self.model = UNIFIED
        self.array = array
        self.unit = unit
        self.memory = memory
        self.freed = False
        self.errhandler: Any = None
        self.handle: Any = None
        self.attributes: dict[int, Any] = {}
        self.info = Info()
        self.held: list[Data] = []
        """Places in the process's memory, held until it is freed."""
        self.regions: list[Any] = []
        self.shared: Any = None
        self._windows = windows
        self._origin = windows.origin
        self.epochs = Epochs(self, windows.library.engine, self._holders)

    def _holders(self, rank: int) -> dict[int, int]:
        there = self._windows.everywhere.find(self.number, self.group.world_ranks[rank])
        return {} if there is None else there.epochs.lock.holders

    @property
    def base(self) -> int:
        """Tells where the program has its memory of the window; 0 if it has none."""
        return int(Buffers.flat(self.array, "Win")[0].ctypes.data) if self.length else 0

    @property
    def length(self) -> int:
        """Bytes of this process's memory of the window."""
        return 0 if self.array is None else memoryview(self.array).nbytes

    # Windows are made

    @staticmethod
    async def Create(memory: Any, disp_unit: int = 1, comm: Any = None) -> "Win":
        """A window of ``memory``, an array, or None for none. All of ``comm`` call it."""
        return await comm.library.windows.create(memory, disp_unit, comm)

    @staticmethod
    async def Allocate(size: int, disp_unit: int = 1, comm: Any = None) -> "Win":
        """A window of ``size`` new bytes: ``array``."""
        return await comm.library.windows.allocate(size, disp_unit, comm)

    @staticmethod
    async def Allocate_shared(size: int, disp_unit: int = 1, comm: Any = None) -> "Win":
        """The same, of memory that all, who are on one node, share: :meth:`Shared_query`."""
        return await comm.library.windows.allocate_shared(size, disp_unit, comm)

    @staticmethod
    async def Create_dynamic(comm: Any) -> "Win":
        """A window without memory so far."""
        return await comm.library.windows.create_dynamic(comm)

    async def Free(self) -> None:
        """All of the window call it."""
        await self._windows.free(self)

    async def Attach(self, memory: Any, address: int | None = None) -> int:
        """``memory``, an array, belongs to the window now; its address for origins, which is where
        the program has it if ``address`` does not say more."""
        return await self._windows.attach(self, memory, address)

    async def Detach(self, memory: Any) -> None:
        """It does no longer."""
        await self._windows.detach(self, memory)

    def Shared_query(self, rank: int) -> tuple[Any, int]:
        """The memory of ``rank``, and its unit; of PROC_NULL, that of the first that has some.

        Raises
        ------
        MpiError
            The window is not shared.
        """
        if self.flavor != SHARED:
            raise MpiError(ErrorClass.ERR_RMA_FLAVOR, f"rank {self.rank}: Win_shared_query of "
                           f"{self.name}, which is not shared", [self])
        peers = self.epochs.peers
        if rank == PROC_NULL:
            rank = next((one.rank for one in peers if one.size), 0)
        self._check_rank("Win_shared_query", rank)
        begin = sum(one.size for one in peers[:rank])
        return self.shared[begin:begin + peers[rank].size], peers[rank].unit

    def Set_name(self, name: str) -> None:
        self.name = self.label = name

    def Get_group(self) -> Group:
        return self.group

    # Checks

    def check(self, call: str) -> None:
        """``call`` may use the window."""
        if self.freed:
            raise MpiError(ErrorClass.ERR_WIN, f"rank {self.rank}: {call} on {self.name}, which "
                           "was freed", [self])

    def _check_rank(self, call: str, rank: int) -> None:
        self.check(call)
        if not 0 <= rank < self.size:
            raise MpiError(ErrorClass.ERR_RANK, f"rank {self.rank}: {call}: there is no rank "
                           f"{rank} in {self.name}, which has 0 to {self.size - 1}", [self])

    # Synchronisation

    @called(Call.Win_fence)
    async def Fence(self, assertion: int = 0) -> None:
        """The end of an epoch of all, and the beginning of the next one."""
        await self.epochs.fence(assertion)

    @called(Call.Win_start)
    async def Start(self, group: Group, assertion: int = 0) -> None:
        """Wait until all of ``group`` have posted; an access epoch to them begins."""
        await self.epochs.start(group, assertion)

    @called(Call.Win_complete)
    async def Complete(self) -> None:
        """The access epoch that Start began ends."""
        await self.epochs.complete()

    @called(Call.Win_post)
    async def Post(self, group: Group, assertion: int = 0) -> None:
        """An exposure epoch for ``group`` begins."""
        await self.epochs.post(group, assertion)

    @called(Call.Win_wait)
    async def Wait(self) -> None:
        """Wait until all of the group have completed; the exposure epoch ends."""
        await self.epochs.wait()

    @called(Call.Win_test)
    async def Test(self) -> bool:
        """The same without waiting; whether it has ended."""
        return await self.epochs.test()

    @called(Call.Win_lock)
    async def Lock(self, rank: int, lock_type: int = LOCK_EXCLUSIVE, assertion: int = 0) -> None:
        """Wait for the lock of ``rank``; an access epoch to it begins."""
        if rank != PROC_NULL:
            self._check_rank("Win_lock", rank)
            await self.epochs.lock_one(lock_type, rank, assertion)

    @called(Call.Win_unlock)
    async def Unlock(self, rank: int) -> None:
        """The access epoch ends: all has been done at ``rank``."""
        if rank != PROC_NULL:
            self._check_rank("Win_unlock", rank)
            await self.epochs.unlock_one(rank)

    @called(Call.Win_lock_all)
    async def Lock_all(self, assertion: int = 0) -> None:
        """An access epoch to all begins, as with a shared lock of each."""
        await self.epochs.lock_all(assertion)

    @called(Call.Win_unlock_all)
    async def Unlock_all(self) -> None:
        """It ends."""
        await self.epochs.unlock_all()

    async def _flush(self, call: str, rank: int | None, local: bool) -> None:
        if rank != PROC_NULL:
            if rank is not None:
                self._check_rank(call, rank)
            await self.epochs.flush(call, rank, local)

    @called(Call.Win_flush)
    async def Flush(self, rank: int) -> None:
        """All that was begun at ``rank`` has been done there."""
        await self._flush("Win_flush", rank, False)

    @called(Call.Win_flush_all)
    async def Flush_all(self) -> None:
        """The same of all."""
        await self._flush("Win_flush_all", None, False)

    @called(Call.Win_flush_local)
    async def Flush_local(self, rank: int) -> None:
        """Buffers of what was begun at ``rank`` may be used again."""
        await self._flush("Win_flush_local", rank, True)

    @called(Call.Win_flush_local_all)
    async def Flush_local_all(self) -> None:
        """The same of all."""
        await self._flush("Win_flush_local_all", None, True)

    @called(Call.Win_sync)
    async def Sync(self) -> None:
        """The program's memory and the window are the same now; and what has arrived is
        handled, so that a program that looks again and again advances target time."""
        self.check("Win_sync")
        await self.library.progress()

    # Operations

    def _data(self, buffer: Any, call: str) -> tuple[Data, int, Datatype]:
        """The bytes of ``buffer``, and count and type of what they are."""
        buffers = self.library.buffers
        data = buffers.data(buffer, call)
        count = datatype = None
        array = buffer
        if isinstance(buffer, list | tuple):
            array, count, datatype = buffers.spec(buffer, call)
        if datatype is None:
            datatype = BYTE if array is None else of_dtype(buffers.flat(array, call)[1].dtype)
        if count is None:
            count = data.length // datatype.size if datatype.size else 0
        return data, count, datatype

    def _target(self, call: str, rank: int, target: Any, count: int, datatype: Datatype
                ) -> tuple[list[Piece], Datatype]:
        """The bytes of ``target`` in the window of ``rank``, in bytes from its beginning."""
        self._check_rank(call, rank)
        where = ([] if target is None else [*target] if isinstance(target, list | tuple)
                 else [target])
        disp = int(where[0]) if where else 0
        if len(where) > 1 and where[1] is not None:
            count = int(where[1])
        if len(where) > 2 and where[2] is not None:
            datatype = where[2]
        if count < 0:
            raise MpiError(ErrorClass.ERR_COUNT, f"rank {self.rank}: {call} to rank {rank}: count "
                           f"{count}: must not be negative", [self])
        peer = self.epochs.peers[rank]
        begin = disp * peer.unit
        blocks: list[Piece] = []
        there = self._windows.everywhere.find(self.number, peer.world)
        for at, length in datatype.pieces(count):
            at += begin
            found = None if there is None else there.memory.cut(at, length)
            if found is None:
                raise MpiError(
                    ErrorClass.ERR_RMA_RANGE,
                    f"rank {self.rank}: {call} to rank {rank}: " + (
                        f"bytes {at} to {at + length} of a window of {peer.size}"
                        if self.flavor != DYNAMIC else
                        f"{length} bytes at {at:#x}, which are not attached") + f", {self.name}",
                    [self])
            blocks += found
        return blocks, datatype

    async def _begin(self, call: str, rank: int, out: Any, into: Any, target: Any,
                     passive: bool = False, kind: Packet | None = None, op: Op = REPLACE
                     ) -> Request:
        """Begin an operation: Put, Get, or, with ``kind``, one that updates by ``op``."""
        library = self.library
        library.port.spend(library.prices.origin)
        if rank == PROC_NULL:
            return self._nobody()
        found = {name: self._data(one, call) for name, one in (("out", out), ("into", into))
                 if one is not None}
        data, count, datatype = found.get("out") or found["into"]
        blocks, there = self._target(call, rank, target, count, datatype)
        wanted = sum([length for _, length in blocks])
        for data, *_ in found.values():
            if data.length != wanted:
                raise MpiError(ErrorClass.ERR_TRUNCATE, f"rank {self.rank}: {call} to rank {rank}: "
                               f"{data.length} bytes here, {wanted} there, {self.name}", [self])
            if wanted:
                self._same(call, rank, data.element, element_of(there.dtype))
        element = operator = 0
        if kind is not None:
            element = number_of(there, op, call)
            operator = operator_number(op, dtype_of(element), call)
        await self.epochs.allow(call, rank, passive)
        peer = self.epochs.peers[rank]
        library.calls.note(peer.world, wanted)
        made = Operation(self, next(self._windows.numbers), call, peer,
                         *[found[name][0] if name in found else None for name in ("out", "into")])
        if not wanted:
            made.left()
        elif kind is not None:
            if op is NO_OP:
                made.out = None
            await self._origin.update(made, kind, blocks, element, operator,
                                      dtype_of(element).itemsize)
        elif out is not None:
            await self._origin.put(made, blocks)
        else:
            await self._origin.get(made, blocks)
        return made

    def _same(self, call: str, rank: int, here: int, there: int) -> None:
        """The elements at both ends are of one kind."""
        if here and there and here != there:
            raise MpiError(ErrorClass.ERR_TYPE, f"rank {self.rank}: {call} to rank {rank} of "
                           f"{element_name(here)} here, {element_name(there)} there, {self.name}",
                           [self])

    def _nobody(self) -> Request:
        request = Request(self.library)
        request.done = True
        request.status = Status(PROC_NULL, ANY_TAG, 0)
        return request

    @called(Call.Put)
    async def Put(self, origin: Any, target_rank: int, target: Any = None) -> None:
        """Write ``origin`` into the window of ``target_rank``."""
        await self._begin("Put", target_rank, origin, None, target)

    @called(Call.Get)
    async def Get(self, origin: Any, target_rank: int, target: Any = None) -> None:
        """Read into ``origin`` from the window of ``target_rank``."""
        await self._begin("Get", target_rank, None, origin, target)

    @called(Call.Accumulate)
    async def Accumulate(self, origin: Any, target_rank: int, target: Any = None, op: Op = SUM
                         ) -> None:
        """Update the window of ``target_rank`` by ``origin``, element by element."""
        await self._begin("Accumulate", target_rank, origin, None, target,
                          kind=Packet.ACCUMULATE, op=op)

    @called(Call.Get_accumulate)
    async def Get_accumulate(self, origin: Any, result: Any, target_rank: int, target: Any = None,
                             op: Op = SUM) -> None:
        """The same; what was there comes into ``result``."""
        await self._begin("Get_accumulate", target_rank, None if op is NO_OP else origin, result,
                          target, kind=Packet.FETCH, op=op)

    @called(Call.Fetch_and_op)
    async def Fetch_and_op(self, origin: Any, result: Any, target_rank: int, target_disp: int = 0,
                           op: Op = SUM) -> None:
        """The same of one element."""
        await self._begin("Fetch_and_op", target_rank, None if op is NO_OP else origin, result,
                          target_disp, kind=Packet.FETCH, op=op)

    @called(Call.Compare_and_swap)
    async def Compare_and_swap(self, origin: Any, compare: Any, result: Any, target_rank: int,
                               target_disp: int = 0) -> None:
        """``origin`` is the element of the window, if ``compare`` was; what was there comes into
        ``result``. It is an integer, a truth value or a byte."""
        call, library = "Compare_and_swap", self.library
        library.port.spend(library.prices.origin)
        if target_rank == PROC_NULL:
            return
        out, count, datatype = self._data(origin, call)
        if datatype.kind is None or datatype.kind.group not in SWAPPED:
            raise MpiError(ErrorClass.ERR_TYPE, f"rank {self.rank}: {call} of {datatype.name}, "
                           f"{self.name}", [self])
        if count != 1:
            raise MpiError(ErrorClass.ERR_COUNT, f"rank {self.rank}: {call} of {count} elements, "
                           f"{self.name}", [self])
        [(at, length), *more], _ = self._target(call, target_rank, target_disp, count, datatype)
        if more:
            raise MpiError(ErrorClass.ERR_RMA_RANGE, f"rank {self.rank}: {call} to rank "
                           f"{target_rank}: an element in two regions, {self.name}", [self])
        number = number_of(datatype, NO_OP, call)
        compared, into = self._data(compare, call)[0], self._data(result, call)[0]
        if not out.length == compared.length == into.length == length:
            raise MpiError(ErrorClass.ERR_COUNT, f"rank {self.rank}: {call} to rank {target_rank}: "
                           f"elements of {out.length}, {compared.length} and {into.length} bytes, "
                           f"{self.name}", [self])
        await self.epochs.allow(call, target_rank, False)
        peer = self.epochs.peers[target_rank]
        library.calls.note(peer.world, length)
        made = Operation(self, next(self._windows.numbers), call, peer, out, into)
        await self._origin.swap(made, compared, at, number)
        made.left()

    @called(Call.Rput)
    async def Rput(self, origin: Any, target_rank: int, target: Any = None) -> Request:
        """Put; the request ends when ``origin`` may be changed."""
        return await self._begin("Rput", target_rank, origin, None, target, True)

    @called(Call.Rget)
    async def Rget(self, origin: Any, target_rank: int, target: Any = None) -> Request:
        """Get; the request ends when the data are there."""
        return await self._begin("Rget", target_rank, None, origin, target, True)

    @called(Call.Raccumulate)
    async def Raccumulate(self, origin: Any, target_rank: int, target: Any = None, op: Op = SUM
                          ) -> Request:
        """Accumulate, with a request."""
        return await self._begin("Raccumulate", target_rank, origin, None, target, True,
                                 Packet.ACCUMULATE, op)

    @called(Call.Rget_accumulate)
    async def Rget_accumulate(self, origin: Any, result: Any, target_rank: int, target: Any = None,
                              op: Op = SUM) -> Request:
        """Get_accumulate, with a request."""
        return await self._begin("Rget_accumulate", target_rank,
                                 None if op is NO_OP else origin, result, target, True,
                                 Packet.FETCH, op)

