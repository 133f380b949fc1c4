"""The layers that the testbed knows, by name."""

from ..layouts.doors.layer import Layer, resolved

__all__ = ["LAYERS"]

BUILT_IN = tuple(f"nicbed.host.{name}.layer:LAYER" for name in (
    "am", "via", "gm", "fm", "mpl", "tcp", "mpi", "rpc"))


class _Layers:
    """Layers by name, each loaded when it is first asked for."""

    def __init__(self) -> None:
        self._named = {text.split(".")[-2]: text for text in BUILT_IN}

    def names(self) -> list[str]:
        return list(self._named)

    def get(self, name: str) -> Layer:
        return resolved(self._named[name])


LAYERS = _Layers()
