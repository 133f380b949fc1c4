"""docs/reference/nic-ports.md has the ports of a NIC's socket. ``--update`` rewrites it."""

import pytest
from nicbed.rtl.node.flat_ports import flat_ports
from nicbed.rtl.node.nic_side import NicSide

from tests.labs import nic_ports

UPDATE = "run: ./nicbed test -k nic_ports --update"


def test_page_is_up_to_date(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update"):
        nic_ports.PAGE.write_text(nic_ports.page(), encoding="utf-8")
        return
    assert nic_ports.PAGE.read_text(encoding="utf-8") == nic_ports.page(), UPDATE


@pytest.mark.parametrize("side", [nic_ports.USUAL, nic_ports.OTHER])
def test_each_port_is_on_the_page_and_each_meaning_is_of_a_port(side: NicSide) -> None:
    text = nic_ports.page()
    for port in flat_ports(side):
        assert f"| `{port.name}` | {port.direction} | {port.width} | " in text
    names = {port.name for one in (nic_ports.USUAL, nic_ports.OTHER) for port in flat_ports(one)}
    assert set(nic_ports.MEANINGS) <= names
