"""docs/reference/nic-ports.md has the ports of a NIC's socket. ``--update`` rewrites it."""

import pytest
from nicbed.rtl.node.flat_ports import flat_ports

from tests.labs import nic_ports

UPDATE = "run: ./nicbed test -k nic_ports --update"


def test_page_is_up_to_date(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update"):
        nic_ports.PAGE.write_text(nic_ports.page(), encoding="utf-8")
        return
    assert nic_ports.PAGE.read_text(encoding="utf-8") == nic_ports.page(), UPDATE


def test_each_meaning_is_of_a_port() -> None:
    names = {port.name for side in (nic_ports.USUAL, nic_ports.OTHER) for port in flat_ports(side)}
    assert set(nic_ports.MEANINGS) <= names
