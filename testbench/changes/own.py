"""Makes variables that only one cluster uses local to that cluster's function."""

from collections.abc import Iterable

from .clusters import Cluster
from .model import VARIABLE, Member, Model

__all__ = ["own_variables"]


def own_variables(model: Model, found: list[Cluster], elsewhere: Iterable[str]
                  ) -> list[dict[str, Member]]:
    """For each cluster of ``found`` the variables, by name, that can be those of its function: in
    no cluster anything depends on what they were before, and they are neither ports nor among those
    used ``elsewhere``.

    Such a variable need be neither written to memory nor compared. Verilator's own ones are members
    of the model for the pass (:data:`.rewrite.MEMBERS_ONLY`), as it is known only here which
    statements run together.
    """
    before = {key.split("[")[0] for cluster in found for key in cluster.reads}
    kept = before | model.ports | set(elsewhere)
    own: list[dict[str, Member]] = []
    for cluster in found:
        names = {name for one in cluster.statements for name in VARIABLE.findall(one.text)} - kept
        own.append({name: model.members[name] for name in sorted(names)
                    if name in model.members and not model.members[name].memory})
    return own
