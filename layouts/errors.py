"""Errors that a user can cause: one line on stderr, an exit status, no traceback."""

__all__ = ["UserError", "nearest"]


class UserError(Exception):
    """A user's error: one line that says what is wrong and what to do. ``status`` is the exit
    status."""

    def __init__(self, text: str, *, status: int = 2) -> None:
        super().__init__(" ".join(text.split()))
        self.status = status


def nearest(name: str, known: list[str]) -> str:
    """"; did you mean a, b?" with the names most similar to ``name``, else "; there are: …"."""
    import difflib

    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if not close:
        close = [one for one in known if one.rpartition(".")[2] == name.rpartition(".")[2]][:3]
    if close:
        return f"; did you mean {' or '.join(close)}?"
    return f"; there are: {', '.join(known)}" if len(known) <= 32 else ""
