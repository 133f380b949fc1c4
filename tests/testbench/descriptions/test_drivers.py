"""A layer that has no driver on a NIC is refused in one line."""

import pytest
from nicbed.host.nic.kinds import Frames, Queues, Rings
from nicbed.host.raw import Raw
from nicbed.layouts.doors import LAYERS, NICS, Layer
from nicbed.testbench.descriptions.load import for_layer, load
from nicbed.testbench.errors import UserError

from tests.models.target import Model

PROCESSOR = ("nic.processor=picorv32",)


def test_raw_frames_beside_a_processor():
    with pytest.raises(UserError) as error:
        for_layer(load("default", PROCESSOR), "raw")
    assert str(error.value) == (
        "layer raw needs a NIC driver of kind Frames, and NIC design rings (nic.design) has Queues "
        "under this description; would fit: layers am, am2, gm, unet, vmmc, fm, mpl; designs none")


@pytest.mark.parametrize("nic", ["default", "ideal", "io-bus", "local-bus", "memory-bus",
                                 "via-doorbell", "via-table", "via-kernel"])
def test_raw_frames_on_every_nic_with_rings(nic):
    assert for_layer(load(nic), "raw").via.design in ("engine", "kernel")


@pytest.mark.parametrize("layer", LAYERS.names())
@pytest.mark.parametrize("knobs", [(), PROCESSOR, ("nic.send_ring=0",),
                                   ("via.design=kernel",), ("mpi.channel=tcp",)])
def test_a_layer_whose_needs_are_met_has_a_driver(layer, knobs):
    """The drivers that a layer names do not contradict the rules that it has."""
    try:
        for_layer(load("default", knobs), layer)
    except UserError as error:
        assert "needs a NIC driver" not in str(error) or layer == "raw"


def test_kinds_of_another_nic(monkeypatch):
    """A NIC with nothing but queues has no driver for layers over rings; one of rings would fit."""
    design = NICS.get("rings")
    monkeypatch.setattr(type(design), "kinds", lambda self, description: (Queues,))
    with pytest.raises(UserError, match=r"layer tcp needs a NIC driver of kind Rings, and NIC .* "
                                        r"has Queues .*: layers .*am.*; designs none$"):
        for_layer(load("default"), "tcp")
    monkeypatch.setattr(type(design), "kinds", lambda self, description: (Rings,))
    for_layer(load("default"), "tcp")


def test_layers_say_what_they_run_in_the_background():
    assert all(isinstance(layer, Layer) for _, layer in LAYERS.working())
    assert {layer.name for _, layer in LAYERS.working() if layer.background} == {"am", "mpl"}


OUTSIDE = """
from nicbed.host.nic.ring_frames import RingFrames
from nicbed.host.nic.kinds import Frames
from nicbed.layouts.doors import NicDesign


class Thin(NicDesign):
    name = "thin"
    title = "a NIC of one's own, which takes frames"

    def kinds(self, description):
        return (Frames,)

    def driver(self, node, kind):
        return Mine(node)


class Mine(RingFrames):
    opened = 0

    async def open(self):
        self.opened += 1
        await super().open()
"""


def test_the_driver_of_a_nic_from_outside(tmp_path):
    """Layer raw runs by it, and others are refused. (The target is still the NIC that is built in:
    the design has no logic.)"""
    path = tmp_path / "thin.py"
    path.write_text(OUTSIDE)
    knobs = (f"nic.design={path}",)
    with pytest.raises(UserError, match=r"^layer tcp needs a NIC driver of kind Rings, and NIC "
                                        r"design thin \(nic\.design\) has Frames under this "
                                        r"description; would fit: layers raw; designs rings$"):
        for_layer(load("default", knobs), "tcp")

    async def program(node):
        raw = Raw(node)
        await raw.open()
        await raw.send(0, node.allocate(8), 8)
        await raw.wait(lambda: raw.received, lambda frame: None)
        return type(node.nic_driver(Frames)).__name__, node.nic_driver(Frames).opened

    runtime = Model(for_layer(load("default", knobs), "raw")).run([program, None], limit=10_000)
    assert runtime.results[0] == ("Mine", 1)
