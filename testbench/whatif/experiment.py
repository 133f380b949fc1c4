"""Measures all changes of a description, as a study does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...layouts.description import Description
from ...layouts.doors import LAYERS
from ..defaults import LAYER as DEFAULT_LAYER
from ..descriptions import load
from ..errors import UserError
from ..results import document as files
from ..sweeps.executor import Executor, Outcome, Task
from ..sweeps.sweep import Remaining
from ..testbed.bed import one_nic
from ..testbed.listener import Progress
from ..why.round_trip import traced, traced_layers
from .changes import FREE, Change, Refused, changed, matter
from .effects import Effect, Probed, effects
from .prediction import predicted, work_of
from .probe import NAME, SIZE, measurement

__all__ = ["Question", "ask"]


NODES = 2
_BASE = 0


@dataclass(frozen=True)
class Question:
    """A question, checked; nothing was built or measured.

    Attributes
    ----------
    description, layer
        What is changed, and the layer whose messages are measured.
    changes, refused
        What is measured, and what the description refuses.
    """

    description: Description
    layer: str
    changes: tuple[Change, ...]
    refused: tuple[Refused, ...]

    @classmethod
    def of(cls, nic: str | Description = load.DEFAULT, *, overrides: Sequence[str] = (),
           layer: str = DEFAULT_LAYER, patterns: Sequence[str] = ()) -> "Question":
        """The question about a description.

        Parameters
        ----------
        nic, overrides
            The description and knobs as texts, as for :class:`~nicbed.Testbed`.
        layer
            One of :func:`~..why.round_trip.traced_layers`.
        patterns
            Which knobs: names or patterns such as ``cpu.*``; none: all that matter.

        Raises
        ------
        UserError
            A name, a value or a pattern is wrong, or no knob can be changed.
        """
        if not traced(layer):
            raise UserError(f"--layer {layer}: whatif takes {', '.join(traced_layers())}")
        description = load.for_layer(load.load(nic, overrides, NODES), layer)
        if LAYERS.get(layer).processes is None:
            one_nic(description, NAME)
        found = list(changed(description, layer, matter(description, layer, patterns)))
        changes = tuple(one for one in found if isinstance(one, Change))
        refused = tuple(one for one in found if isinstance(one, Refused))
        if not changes:
            raise UserError(refused[0].line if refused else "no knob has another value when it is "
                            "halved or doubled: those that match are 0")
        return cls(description, layer, changes, refused)


def ask(question: Question, executor: Executor, tell: Progress = lambda *_: None
        ) -> dict[str, Any]:
    """Measure every change of ``question`` and return the document of the result file. A knob is
    made free only if halving or doubling it changes a run at all. A change whose run fails is a
    line of the result.

    Raises
    ------
    UserError
        The unchanged description cannot be measured.
    """
    tasks = {_BASE: Task(_BASE, measurement(question.description, question.layer))}
    tasks |= {number: Task(number, measurement(change.description, question.layer))
              for number, change in enumerate(question.changes, 1)}
    others = {change.knob for change in question.changes if change.how != FREE}
    later = {number: change.knob for number, change in enumerate(question.changes, 1)
             if change.how == FREE and change.knob in others}
    bar = _Bar(len(tasks), tell)
    found = bar.follow(executor, [task for task in tasks.values() if task.number not in later])
    first = found[_BASE].document
    if first is None:
        raise UserError(found[_BASE].error, status=1)
    moved = {question.changes[number - 1].knob for number, outcome in found.items()
             if number != _BASE and (outcome.document is None
                                     or outcome.document["points"] != first["points"])}
    left = [number for number, knob in later.items() if knob in moved]
    bar.drop(len(later) - len(left))
    found |= bar.follow(executor, [tasks[number] for number in left])
    return _document(question, first, found)


def _document(question: Question, first: Mapping[str, Any], found: Mapping[int, Outcome]
              ) -> dict[str, Any]:
    work = work_of(first["truth"])
    several, failed = [], []
    for number, change in enumerate(question.changes, 1):
        if number not in found:
            continue
        outcome = found[number]
        if outcome.document is None:
            failed.append({"knob": change.knob, "how": change.how, "line": outcome.error})
            continue
        several.append(Effect(change.knob, change.how, change.before, change.after,
                              Probed.of(outcome.document),
                              predicted(change.knob, question.description, change.description,
                                        work)))
    names = sorted({change.knob for change in question.changes})
    return {**{name: first[name] for name in ("benchmark", "layer", "sim", "config", "parameters",
                                              "versions", "unit", "clock_mhz", "notes")},
            "config_hash": files.config_hash_of([first["config_hash"], names]),
            "knobs": names, "bandwidth_bytes": SIZE,
            "results": effects(Probed.of(first), several),
            "refused": [vars(one) for one in question.refused], "failed": failed,
            "checks": first["checks"]}


class _Bar:
    """Progress over both passes, with the time left."""

    def __init__(self, total: int, tell: Progress) -> None:
        self._tell = tell
        self._remaining = Remaining(total)

    def drop(self, count: int) -> None:
        """So many need not be measured."""
        self._remaining.total -= count

    def follow(self, executor: Executor, tasks: Sequence[Task]) -> dict[int, Outcome]:
        """The outcomes of ``tasks`` by number."""
        found = {}
        for outcome in executor.outcomes(tasks):
            found[outcome.number] = outcome
            self._tell(*self._remaining.after(outcome.stored))
        return found
