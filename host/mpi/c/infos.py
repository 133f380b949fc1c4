"""Calls about infos."""

from typing import Any

from ..info import Info, checked
from .calls import State
from .handles import value
from .memory import Pointer, integers, put_int, put_text, text

__all__ = ["Infos"]


class Infos:
    """Infos, and those of communicators. INFO_ENV says nothing of how the run was begun."""

    def __init__(self, state: State) -> None:
        self._infos = state.handles.infos

    def MPI_Info_create(self, info: Pointer) -> None:
        put_int(info, self._infos.add(Info()))

    def MPI_Info_dup(self, info: int, newinfo: Pointer) -> None:
        put_int(newinfo, self._infos.add(Info(self._infos[info])))

    def MPI_Info_free(self, info: Pointer) -> None:
        self._infos.remove(integers(info, 1)[0])
        put_int(info, 0)

    def MPI_Info_set(self, info: int, key: Pointer, place: Pointer) -> None:
        self._infos[info].put(text(key), text(place))

    def MPI_Info_delete(self, info: int, key: Pointer) -> None:
        self._infos[info].remove(text(key))

    def MPI_Info_get(self, info: int, key: Pointer, valuelen: int, place: Pointer, flag: Pointer
                     ) -> None:
        found = self._infos[info].get(checked(text(key)))
        put_int(flag, found is not None)
        if found is not None:
            put_text(place, found, valuelen + 1)

    def MPI_Info_get_valuelen(self, info: int, key: Pointer, valuelen: Pointer, flag: Pointer
                              ) -> None:
        found = self._infos[info].get(checked(text(key)))
        put_int(flag, found is not None)
        if found is not None:
            put_int(valuelen, len(found.encode()))

    def MPI_Info_get_nkeys(self, info: int, nkeys: Pointer) -> None:
        put_int(nkeys, len(self._infos[info]))

    def MPI_Info_get_nthkey(self, info: int, number: int, key: Pointer) -> None:
        put_text(key, self._infos[info].key(number), value("MAX_INFO_KEY") + 1)

    def MPI_Comm_set_info(self, comm: Any, info: int) -> None:
        comm.info = Info(self._infos[info]) if info else Info()

    def MPI_Comm_get_info(self, comm: Any, info_used: Pointer) -> None:
        put_int(info_used, self._infos.add(Info(comm.info)))

    MPI_Win_set_info = MPI_Comm_set_info
    MPI_Win_get_info = MPI_Comm_get_info
