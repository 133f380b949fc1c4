"""Large conditional statements, taken apart by the variables that they set."""

from .accesses import condition_of, read_keys, statement
from .groups import Groups
from .model import Scope, statements

__all__ = ["taken_apart"]

LARGE = 30
"""Up to so many accesses a statement stays whole."""


def taken_apart(text: str, scope: Scope) -> list[str]:
    """Statements that together do what the conditional statement ``text`` does, in any order.

    Registers with an asynchronous reset are one such statement: in reset all are set to constants,
    otherwise each to its next value.
    """
    whole = statement(text, scope)
    if not text.startswith("if") or whole.size <= LARGE or whole.acts:
        return [text]
    condition, first, second = condition_of(text)
    branches = [(side, statement(one, scope))
                for side, branch in enumerate((first, second)) for one in statements(branch)]
    if read_keys(condition, scope) & (whole.writes.keys() | whole.locals):
        return [text]
    groups = Groups(len(branches))
    writers: dict[str, list[int]] = {}
    for number, (_, one) in enumerate(branches):
        for key in [*one.writes, *one.locals]:
            writers.setdefault(key, []).append(number)
    for numbers in writers.values():
        for other in numbers[1:]:
            groups.join(numbers[0], other)
    for number, (_, one) in enumerate(branches):
        for key in one.reads:
            # What is also written here has an order, which a group keeps.
            for other in writers.get(key, ()):
                groups.join(number, other)
    found = []
    for group in groups.all():
        texts = ["\n".join(branches[number][1].text for number in group
                           if branches[number][0] == side) for side in (0, 1)]
        found.append(f"if ({condition}) {{\n{texts[0]}\n}}"
                     + (f" else {{\n{texts[1]}\n}}" if texts[1] else ""))
    return found
