"""Tests of tap_layer: python -m pytest tap_layer (it builds a simulator, once)."""

from pathlib import Path

from nicbed import Testbed

LAYER = str(Path(__file__).parent / "layer.py")


def test_messages_arrive():
    found = Testbed("default").bench("latency", layer=LAYER, sizes=[4, 64], trips=4, warm=1)
    assert all(check["ok"] for check in found.document["checks"])
