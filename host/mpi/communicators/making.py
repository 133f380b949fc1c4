"""Makes communicators from others: Dup, Split, Create and their relatives.

Each is charged as making a communicator (``mpi_communicator``), and for the messages by which its
processes agree on a context.
"""

from typing import Any

import numpy as np

from ..calls import Call, called
from ..constants import COMM_TYPE_SHARED, UNDEFINED
from ..data.operators import MAX
from ..errors import ErrorClass, MpiError
from .groups import Group

__all__ = ["agreed", "check_inside", "create", "create_group", "dup", "dup_alone", "duplicate",
           "inherit", "split", "split_type"]

TELL = 9
"""Tag of the message with the context of a communicator that one process has given, in the
collective context of the old one."""


def inherit(comm: Any, made: Any) -> Any:
    """``made`` of ``comm`` has what every communicator has from the one it was made of."""
    made.errhandler = comm.errhandler
    return made


def duplicate(comm: Any, made: Any) -> Any:
    """``made``, a duplicate of ``comm``, has what a duplicate has besides."""
    made.topology = comm.topology
    made.info.update(comm.info)
    return made


def _new(comm: Any, group: Group, name: str, context: int) -> Any:
    return inherit(comm, comm.library.new_comm(group, name, context))


@called(Call.Dup)
async def dup(comm: Any) -> Any:
    """The same processes, with contexts of their own; topology and infos stay."""
    return duplicate(comm, await agreed(comm, comm.group, f"{comm.name}.Dup"))


async def dup_alone(comm: Any, made: list[Any]) -> None:
    """The same while other calls go on, whatever they make: rank 0 gives the context. ``made`` gets
    the duplicate."""
    library = comm.library
    library.port.spend(library.prices.communicator)
    context = np.zeros(1, np.int64)
    if comm.rank == 0:
        context[0] = library.contexts.give()
    await comm.Bcast(context, 0)
    made.append(duplicate(comm, _new(comm, comm.group, f"{comm.name}.Idup", int(context[0]))))


@called(Call.Split)
async def split(comm: Any, color: int = 0, key: int = 0) -> Any:
    """Those with the same ``color``, ordered by ``key``; None for UNDEFINED.

    Raises
    ------
    MpiError
        The colour is negative.
    """
    library = comm.library
    if color < 0 and color != UNDEFINED:
        raise MpiError(ErrorClass.ERR_ARG, f"rank {comm.rank}: Split: color {color}, {comm.name}: "
                       "must not be negative")
    library.port.spend(library.prices.communicator)
    mine = np.array([color, key, library.contexts.next], np.int64)
    every = np.zeros((comm.size, 3), np.int64)
    await comm.Allgather(mine, every)
    context = library.contexts.agreed(int(every[:, 2].max()))
    if color == UNDEFINED:
        return None
    members = sorted((int(key_), rank) for rank, (color_, key_, _) in enumerate(every.tolist())
                     if color_ == color)
    group = Group([comm.group.world_ranks[rank] for _, rank in members], comm.group.me)
    return _new(comm, group, f"{comm.name}.Split({color})", context)


async def split_type(comm: Any, kind: int, key: int = 0) -> Any:
    """Those that share memory, which are the ranks of one node, ordered by ``key``; None if
    ``kind`` is UNDEFINED.

    Raises
    ------
    MpiError
        ``kind`` is no other than these two.
    """
    if kind not in (COMM_TYPE_SHARED, UNDEFINED):
        raise MpiError(ErrorClass.ERR_ARG, f"rank {comm.rank}: Split_type: {kind}, {comm.name}: "
                       "is no kind by which communicators are split")
    node = comm.library.node.number
    return await comm.Split(node if kind == COMM_TYPE_SHARED else UNDEFINED, key)


@called(Call.Create)
async def create(comm: Any, group: Group) -> Any:
    """The processes of ``group``, the same at all; None for those outside.

    Raises
    ------
    MpiError
        Not all of ``group`` are in ``comm``.
    """
    check_inside(comm, group, "Create")
    return await agreed(comm, group, f"{comm.name}.Create")


@called(Call.Create_group)
async def create_group(comm: Any, group: Group) -> Any:
    """The same, called by the processes of ``group`` alone; its first one gives the context."""
    check_inside(comm, group, "Create_group")
    if group.rank == UNDEFINED:
        return None
    library = comm.library
    library.port.spend(library.prices.communicator)
    context = np.zeros(1, np.int64)
    ranks = Group.Translate_ranks(group, range(group.size), comm.group)
    place, mask = group.rank, 1
    if place == 0:
        context[0] = library.contexts.give()
    while mask < group.size and not place & mask:
        mask *= 2
    if place:
        await comm._recv("Create_group", comm._data(context, "Create_group"),
                         ranks[place - mask], TELL)
    while mask := mask // 2:
        if place + mask < group.size:
            await comm._send("Create_group", comm._data(context, "Create_group"),
                             ranks[place + mask], TELL)
    return _new(comm, group, f"{comm.name}.Create_group", int(context[0]))


def check_inside(comm: Any, group: Group, call: str) -> None:
    """Refuse a ``group`` of which some are not in ``comm``."""
    if not set(group.world_ranks) <= set(comm.group.world_ranks):
        raise MpiError(ErrorClass.ERR_GROUP, f"rank {comm.rank}: {call}: the group has others than "
                       f"{comm.name}")


async def agreed(comm: Any, group: Group, name: str) -> Any:
    """The processes of ``group``, with a context on which all of ``comm`` agree; None for those
    outside."""
    library = comm.library
    library.port.spend(library.prices.communicator)
    mine = np.array([library.contexts.next], np.int64)
    highest = np.zeros(1, np.int64)
    await comm.Allreduce(mine, highest, MAX)
    context = library.contexts.agreed(int(highest[0]))
    return None if group.rank == UNDEFINED else _new(comm, group, name, context)
