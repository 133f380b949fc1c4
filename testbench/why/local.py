"""A side that this revision of the project measures: a description, or a result file."""

from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import ValidationError

from ...layouts.description import Description
from ...layouts.doors import LAYERS
from ..descriptions import load
from ..errors import UserError
from ..results import document as files
from ..testbed.bed import one_nic
from .observation import Observation, figures

__all__ = ["NODES", "Progress", "described", "layer_of", "measured"]

NODES = 2

Progress = Callable[[str, int, int], None]


def described(nic: str, overrides: Sequence[str], layer: str) -> Description:
    """The description that ``nic`` names, for ``layer``.

    Raises
    ------
    UserError
        There is none, or it is not valid.
    """
    found = _of_result(nic, overrides) if _is_result(nic) else load.for_layer(
        load.load(nic, overrides, NODES), layer)
    if LAYERS.get(layer).processes is None:
        one_nic(found, "why")
    return found


def layer_of(nic: str) -> str | None:
    """The layer of result file ``nic``; None if it is a description.

    Raises
    ------
    UserError
        It is a result file that cannot be read.
    """
    return str(files.read(Path(nic))["layer"]) if _is_result(nic) else None


def _is_result(nic: str) -> bool:
    return nic.endswith(".json")


def _of_result(nic: str, overrides: Sequence[str]) -> Description:
    """The configuration in result file ``nic``."""
    if overrides:
        raise UserError(f"{nic}: --set does not go with a result file: its configuration is whole")
    try:
        document = files.read(Path(nic))
        if "study" in document:  # its configuration is where its points start from
            raise ValueError
        return Description.model_validate(document["config"])
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"{nic}: its configuration does not go with this nicbed: "
                        f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{nic}: is no result file of one description") from None


def measured(description: Description, layer: str, progress: Progress) -> Observation:
    """Measure ``description``.

    Raises
    ------
    RunError
        A run failed.
    """
    from ..backends.job import Job
    from ..backends.session import perform
    from ..benches import BENCHES

    bench = BENCHES.get("logp")
    parameters = bench.module(layer).parameters(description)
    outcome = perform(Job(description, function="nicbed.testbench.benches:run", arguments={
        "name": bench.name, "layer": layer, "parameters": parameters}), progress=progress)
    document = files.build(bench.name, layer, "verilator", description, parameters, outcome)
    trips = perform(Job(description, function="nicbed.testbench.why.round_trip:in_simulator",
                        arguments={"layer": layer}), progress=progress)
    return Observation(**figures(document), **trips)
