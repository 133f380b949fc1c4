"""Counts what a program with layouts does, without running it.

A request and its reply are two messages, as the study of clumps counts them (decision 180).
"""

from collections.abc import Mapping
from typing import Any

from ...layouts.description import Description
from ...layouts.doors import LAYERS
from . import get

__all__ = ["COUNTS", "counted"]

COUNTS = ("off", "within", "local", "blocks off", "blocks within")
"""Messages of a process, in the mean, that leave its node and that stay within, replies included;
the percentage that stays; and the requests alone."""


def counted(program: str, parameters: Mapping[str, Any], description: Description, layer: str
            ) -> dict[str, Any]:
    """Counts what ``program`` does with complete ``parameters`` over ``layer``: data in ``work``,
    COUNTS, ``messages`` of a process without replies, and those of each process by ``off`` and
    ``within`` in ``processes``."""
    module, where = get(program).module, LAYERS.get(layer).places(description)
    given = module.inputs(parameters, len(where)) if module.BY_DATA else None
    to = module.traffic(given, parameters, len(where))
    each = [[sum(count for other, count in one.items()
                 if (where[other][0] == where[me][0]) == within) for within in (False, True)]
            for me, one in enumerate(to)]
    off, within = (sum(one) / len(where) for one in zip(*each, strict=True))
    return {"parameters": dict(parameters), "work": module.work(parameters),
            "messages": off + within, "blocks off": off, "blocks within": within,
            "off": 2 * off, "within": 2 * within,
            "local": 100 * within / (off + within) if off + within else 0.0,
            "processes": [[2 * one for one in mine] for mine in each]}
