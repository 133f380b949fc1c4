"""Tests of wire_nic: python -m pytest wire_nic (each builds a simulator, once)."""

from pathlib import Path

from nicbed import Testbed

BED = Testbed(str(Path(__file__).parent / "wire_nic.toml"))


def test_frames_arrive():
    found = BED.bench("latency", layer="raw", sizes=[4, 64], trips=4, warm=1)
    assert all(check["ok"] for check in found.document["checks"])


def test_a_gap_is_seen():
    usual, slow = (BED.bench("logp", layer="raw", knobs={"wire_nic.gap": gap})
                   for gap in (0, 200))
    assert slow.results["g"] > usual.results["g"] + 100
