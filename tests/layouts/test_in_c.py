"""What modules of layouts give to the C header."""

from enum import IntEnum

import pytest
from nicbed.firmware.header import constants
from nicbed.layouts import gm
from nicbed.layouts.in_c import InC, picked


class Kind(IntEnum):
    ONE = 1


def test_constants_have_the_layers_name_once():
    assert picked({"GM_BYTES": 24, "PORTS": 8}, "GM", ("GM_BYTES", "PORTS")) == {
        "GM_BYTES": 24, "GM_PORTS": 8}


def test_two_modules_are_put_together():
    both = InC({"A": 1}, enums={"kind": Kind}).with_(InC({"B": 2}))
    assert both == InC({"A": 1, "B": 2}, enums={"kind": Kind})


@pytest.mark.parametrize("other", [InC({"A": 1}), InC(enums={"kind": Kind}),
                                   InC(words={"word": gm.COMMAND})])
def test_a_name_that_two_modules_declare_is_refused(other):
    mine = InC({"A": 2}, {"word": gm.COMMAND}, {"kind": Kind})
    with pytest.raises(ValueError, match="two modules of layouts declare .* for C"):
        mine.with_(other)


def test_the_header_has_what_a_module_declares():
    found = constants()
    assert found["NICBED_GM_PORTS"] == gm.PORTS
    for one in gm.Status:
        assert found[f"NICBED_GM_STATUS_{one.name}"] == one
    assert found["NICBED_GM_COMMAND_KIND_MASK"] == gm.COMMAND.mask("kind")
