"""Makes communicators of two groups, and further communicators from these.

The leaders, each group's rank 0, agree for all: on a context, which the one with the lower rank
among all gives, and on what the other group must know.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..calls import Call, called
from ..constants import UNDEFINED
from ..errors import ErrorClass, MpiError
from .groups import Group
from .making import check_inside, duplicate, inherit

__all__ = ["ACROSS", "create", "create_intercomm", "dup", "dup_alone", "merge", "split"]

ACROSS = 11
"""Tag of messages from group to group in the collective context. There messages within a group have
other tags."""


@called(Call.Create_intercomm)
async def create_intercomm(comm: Any, local_leader: int, peer_comm: Any, remote_leader: int,
                           tag: int = 0) -> Any:
    """This communicator's group and that of rank ``remote_leader`` of ``peer_comm``, which counts
    at ``local_leader`` alone.

    Raises
    ------
    MpiError
        A leader is none of the ranks; or the groups have a process in common.
    """
    library = comm.library
    library.port.spend(library.prices.communicator)
    if not 0 <= local_leader < comm.size:
        raise MpiError(ErrorClass.ERR_RANK, f"rank {comm.rank}: Create_intercomm: there is no rank "
                       f"{local_leader} in {comm.name}, which has 0 to {comm.size - 1}")
    head = np.zeros(3, np.int64)
    members = np.zeros(0, np.int64)
    if comm.rank == local_leader:
        mine = library.contexts.give()
        await peer_comm.Sendrecv(np.array([comm.size, mine, library.rank], np.int64),
                                 remote_leader, tag, head, remote_leader, tag)
        members = np.zeros(int(head[0]), np.int64)
        await peer_comm.Sendrecv(np.array(comm.group.world_ranks, np.int64), remote_leader, tag,
                                 members, remote_leader, tag)
        head[1] = library.contexts.chosen(mine, int(head[1]), library.rank < head[2])
    await comm.Bcast(head, local_leader)
    if comm.rank != local_leader:
        members = np.zeros(int(head[0]), np.int64)
    await comm.Bcast(members, local_leader)
    remote = Group(members.tolist(), comm.group.me)
    if set(remote.world_ranks) & set(comm.group.world_ranks):
        raise MpiError(ErrorClass.ERR_COMM, f"rank {comm.rank}: Create_intercomm: {comm.name} and "
                       "the group of the other leader have a process in common")
    return _make(comm, comm.group, remote, "Create_intercomm", int(head[1]))


def _make(comm: Any, group: Group, remote: Group, name: str, context: int) -> Any:
    return inherit(comm, comm.library.new_inter(group, remote, f"{comm.name}.{name}", context))


async def _agree(comm: Any, call: str, mine: Sequence[int], length: int) -> tuple[list[int], int]:
    """What the other group's leader says, ``length`` numbers, where this one's says ``mine``; and
    the context for a new communicator."""
    library = comm.library
    library.port.spend(library.prices.communicator)
    came = np.zeros(length + 1, np.int64)
    if comm.rank == 0:
        own = library.contexts.give()
        await comm._exchange(call, comm._data(np.array([*mine, own], np.int64), call), 0,
                             comm._data(came, call), 0, ACROSS)
        came[-1] = library.contexts.chosen(own, int(came[-1]), _is_first(comm))
    await comm.within.Bcast(came, 0)
    return came[:-1].tolist(), int(came[-1])


def _is_first(comm: Any) -> bool:
    """Whether this group's leader has the lower rank among all."""
    return comm.group.world_ranks[0] < comm.peers.world_ranks[0]


@called(Call.Merge)
async def merge(comm: Any, high: bool = False) -> Any:
    """One group of both: first the one that is not ``high``, or that with the lower leader."""
    [other], context = await _agree(comm, "Merge", [bool(high)], 1)
    first = not high if bool(high) != bool(other) else _is_first(comm)
    groups = (comm.group, comm.peers) if first else (comm.peers, comm.group)
    group = Group([one for each in groups for one in each.world_ranks], comm.group.me)
    return inherit(comm, comm.library.new_comm(group, f"{comm.name}.Merge", context))


@called(Call.Dup)
async def dup(comm: Any) -> Any:
    """The same two groups, with contexts of their own."""
    return await _duplicate(comm, "Dup")


async def dup_alone(comm: Any, made: list[Any]) -> None:
    """The same while other calls go on. ``made`` gets the duplicate."""
    made.append(await _duplicate(comm, "Idup"))


async def _duplicate(comm: Any, name: str) -> Any:
    _, context = await _agree(comm, name, [], 0)
    return duplicate(comm, _make(comm, comm.group, comm.peers, name, context))


@called(Call.Split)
async def split(comm: Any, color: int = 0, key: int = 0) -> Any:
    """Of each group those with the same ``color``, ordered by ``key``. None for UNDEFINED, and
    where the other group has nobody of the colour."""
    if color < 0 and color != UNDEFINED:
        raise MpiError(ErrorClass.ERR_ARG, f"rank {comm.rank}: Split: color {color}, {comm.name}: "
                       "must not be negative")
    every = np.zeros((comm.size, 2), np.int64)
    await comm.within.Allgather(np.array([color, key], np.int64), every)
    flat, context = await _agree(comm, "Split", every.reshape(-1).tolist(), 2 * comm.reach)
    others = [flat[at:at + 2] for at in range(0, len(flat), 2)]
    remote = _of(comm, comm.peers, color, others)
    if color == UNDEFINED or not remote.size:
        return None
    group = _of(comm, comm.group, color, every.tolist())
    return _make(comm, group, remote, f"Split({color})", context)


def _of(comm: Any, group: Group, color: int, chosen: Sequence[Sequence[int]]) -> Group:
    members = sorted((key, rank) for rank, (one, key) in enumerate(chosen) if one == color)
    return Group([group.world_ranks[rank] for _, rank in members], comm.group.me)


@called(Call.Create)
async def create(comm: Any, group: Group) -> Any:
    """Of each group the processes of ``group``, the same at all of it. None for those outside, and
    where one of the two has nobody."""
    check_inside(comm, group, "Create")
    places = [group.world_ranks.index(one) + 1 if one in group.world_ranks else 0
              for one in comm.group.world_ranks]
    others, context = await _agree(comm, "Create", places, comm.reach)
    remote = Group([one for place, one in sorted(zip(others, comm.peers.world_ranks, strict=True))
                    if place], comm.group.me)
    if group.rank == UNDEFINED or not remote.size:
        return None
    return _make(comm, group, remote, "Create", context)
