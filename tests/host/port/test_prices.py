"""The paths of a module as a CPU charges them."""

from dataclasses import FrozenInstanceError, fields
from fractions import Fraction

import pytest
from nicbed.host.gm import costs as gm
from nicbed.host.mpi import costs as mpi
from nicbed.host.port.costs import Path
from nicbed.host.port.prices import prices
from nicbed.host.tcp import costs as tcp
from nicbed.host.via import costs as via
from nicbed.host.via.trap import costs as trap
from nicbed.layouts.description import Description

from tests.models.target import Model

CALL, LOAD = Path("call", call=1), Path("load", load=3)
COSTS = {"__name__": "costs", "Path": Path, "CALL": CALL, "BOTH": (CALL, LOAD),
         "EACH": [CALL, LOAD], "LIMIT": 3, "NONE": (), "_HIDDEN": LOAD}


def on_a_cpu(kind, **knobs):
    """``kind`` for the CPU of a node, and what it has charged after each of its fields."""
    async def program(node):
        found = node.service(kind)
        for field in fields(found):
            charge = getattr(found, field.name)
            for one in charge if isinstance(charge, tuple) else (charge,):
                node.port.spend(one)
        return found, dict(node.port.paths()), node.port.parts / node.port.costs.numerator

    return Model(Description.model_validate(knobs)).run([program, None], limit=1000).results[0]


def test_paths_become_fields() -> None:
    class Prices(prices(COSTS)):
        pass

    found, paths, _ = on_a_cpu(Prices)
    assert [field.name for field in fields(found)] == ["call", "both", "each"]
    assert [path.name for path in found.both.paths] == ["call", "load"]
    assert [charge.paths for charge in found.each] == [(CALL,), (LOAD,)]
    assert paths == {"call": 3, "load": 2}
    with pytest.raises(FrozenInstanceError):
        found.call = None


def test_a_layer_has_a_factor_of_its_own() -> None:
    knobs = {"cpu": {"path_scale": Fraction(3)}, "tcp": {"path_scale": Fraction(5)}}
    only = {"CALL": Path("call", call=1)}
    assert [on_a_cpu(kind, **knobs)[2] for kind in (
        prices(only), prices(only, lambda description: description.tcp.path_scale))] == [18, 30]


@pytest.mark.parametrize("costs", [gm, mpi, tcp, via, trap])
def test_every_path_of_a_layer_has_its_price(costs) -> None:
    kind = costs.TrapPrices if costs is trap else costs.Prices
    found = {field.name for field in fields(kind)}
    assert found >= {name.lower() for name, path in vars(costs).items() if isinstance(path, Path)}
    assert len(found) > 10
