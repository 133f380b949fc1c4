"""A switch's handling of a route."""

from nicbed.layouts.fabric import MeshPort, Routing

__all__ = ["step"]


def step(route: int, routing: Routing) -> tuple[int, int]:
    """The output port that ``route`` leads to, and the route behind it."""
    if routing is Routing.PORTS:
        return route & 15, route >> 4
    right, down = ((part ^ 128) - 128 for part in (route & 255, route >> 8))
    port = MeshPort.NODE
    if right:
        port = MeshPort.RIGHT if right > 0 else MeshPort.LEFT
        right -= 1 if right > 0 else -1
    elif down:
        port = MeshPort.DOWN if down > 0 else MeshPort.UP
        down -= 1 if down > 0 else -1
    return port, (down & 255) << 8 | right & 255
