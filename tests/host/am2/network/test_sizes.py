"""The memory that firmware am2 needs, and what the layer says where it does not have it."""

import pytest
from nicbed.firmware.build import image
from nicbed.host.am2.layer import LAYER
from nicbed.layouts.am2_nic import IMAGE_BYTES, memory_needed
from nicbed.layouts.description import Description

from tests.models.target import Model
from tests.programs.am2_network import LIMIT, Party, describe, name, parties

PADS = ("AM2_WORK_SEND", "AM2_WORK_RECEIVE")
MEMORY = 65536


@pytest.mark.parametrize("core", ["picorv32", "serv", "vexriscv"])
def test_the_firmware_is_no_larger_than_declared(core):
    found = image("am2", core, MEMORY, PADS)
    assert MEMORY - found.stack <= IMAGE_BYTES


def test_the_default_fits():
    """Eight frames, with places for at least two packets."""
    async def both(party: Party):
        await party.request(name(1 - party.node.number), 1)
        await party.until(lambda: len(party.got) == 2)
        party.node.port.process = 0
        places = party.way.driver.processor.address("places")
        return [await party.node.port.pio_read(places + 8 * at) & 0xFFFF_FFFF for at in (0, 1)]

    description = describe(am2__frames=8)
    assert description.processor.memory == MEMORY >= memory_needed(2, 8, 32)
    for places in Model(description).run(parties(both, both), limit=LIMIT).results:
        assert all(places)


@pytest.mark.parametrize("knobs, line", [
    ({"fabric": {"nodes": 12}}, "processor.memory = 65536: firmware am2 with am2.frames = 8 and "
     "am2.endpoints = 32 for 12 NICs needs 77376; try --set processor.memory=131072, or fewer "
     "frames"),
    ({"node": {"cpus": 8}, "am2": {"endpoints": 7}}, "am2.endpoints = 7: 8 CPUs share a NIC, and "
     "each needs an endpoint of it"),
    ({}, None),
])
def test_what_the_layer_needs(knobs, line):
    description = Description.model_validate(
        {"nic": {"processor": "picorv32"}, **{k: v for k, v in knobs.items() if k != "am2"},
         "am2": {"protocol": "network", **knobs.get("am2", {})}})
    found = list(LAYER.needs(description, "am2"))
    if line is None:
        assert not found
    else:
        assert len(found) == 1
        with pytest.raises(ValueError, match=line):
            raise ValueError(found[0])
