"""Knows which programs of a run have ended."""

__all__ = ["Ends"]


class Ends:
    """The known ends of a run's programs. One for a run, from its beginning; a layer gets it by
    ``node.run_service(Ends)``. It is no part of the target.

    Attributes
    ----------
    places
        Node and CPU of each program that has ended.
    """

    def __init__(self) -> None:
        self.places: set[tuple[int, int]] = set()

    def program_ended(self, place: tuple[int, int]) -> None:
        """The program of ``place`` has ended."""
        self.places.add(place)
