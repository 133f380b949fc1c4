"""nextpnr's router is followed, and stopped where it will not end."""

import os
import sys
import textwrap
from fractions import Fraction

import pytest
from nicbed.testbench.synth import report
from nicbed.testbench.synth.flow import netlist, placement
from nicbed.testbench.synth.flow.area import Area
from nicbed.testbench.synth.flow.routing import DoesNotRoute, Routing

HEAD = """\
Info: Routing..
Info: Setting up routing queue.
Info: Routing 40000 arcs.
Info:            |   (re-)routed arcs  |   delta    | remaining|       time spent     |
Info:    IterCnt |  w/ripup   wo/ripup |  w/r  wo/r |      arcs| batch(sec) total(sec)|
"""


def row(tries, left):
    return f"Info: {tries:10} |      257        742 |  257   742 |{left:10}|       7.44     7.44|\n"


def test_what_is_left_is_told():
    told = []
    follow = Routing(lambda *what: told.append(what))
    follow.read("Info: Placed 40000 cells\n" + row(1000, 39500))
    assert not told
    follow.read(HEAD + row(1000, 39500))
    follow.read("Info: something else\n")
    follow.read(row(2000, 39800) + row(3000, 20000))
    follow.read(row(4000, 0))
    assert told == [("routing: 39,500 of 40,000 connections left", 289, 1000),
                    ("routing: 20,000 of 40,000 connections left", 625, 1000),
                    ("routing: 0 of 40,000 connections left", 970, 1000)]


def test_a_router_that_gains_nothing_is_given_up():
    follow = Routing(lambda *_: None)
    follow.read(HEAD + "".join(row(tries, 30000 - tries) for tries in range(1000, 9000, 1000)))
    # Up and down, for a quarter of all connections; then one fewer, and all over again.
    follow.read("".join(row(tries, 22500 + tries % 7) for tries in range(9000, 18001, 1000)))
    follow.read(row(19000, 21999))
    follow.read("".join(row(tries, 21999) for tries in range(20000, 29001, 1000)))
    with pytest.raises(DoesNotRoute) as stuck:
        follow.read(row(30000, 22005))
    assert (stuck.value.left, stuck.value.arcs, stuck.value.tries) == (22005, 40000, 30000)


def test_a_netlist_that_cannot_be_routed(monkeypatch, tmp_path):
    """A router that goes on for ever is ended, and nothing of it is kept."""
    program = tmp_path / "nextpnr"
    program.write_text(textwrap.dedent(f"""\
        #!{sys.executable}
        import os, sys, time
        if "--version" in sys.argv:
            sys.exit(print("a fake"))
        log = open(sys.argv[sys.argv.index("--log") + 1], "w")
        if "--pack-only" in sys.argv:
            sys.exit()
        open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
        log.write({HEAD!r})
        for tries in range(1000, 600000, 1000):
            log.write(f"Info: {{tries:10}} |      257        742 |  257   742 |     30000|       "
                      "7.44       7.44|\\n")
            log.flush()
            time.sleep(0.01)
        """))
    program.chmod(0o755)
    monkeypatch.setenv("NICBED_NEXTPNR", str(program))
    monkeypatch.setenv("NICBED_CACHE", str(tmp_path / "cache"))
    (tmp_path / "top.json").write_text("{}")
    made = netlist.Netlist(tmp_path, "top", {})
    with pytest.raises(DoesNotRoute) as stuck:
        placement.place(made, constraints="", device=[], clock_mhz=Fraction(24))
    assert stuck.value.left == 30000 and stuck.value.arcs == 40000
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    kept = (tmp_path / "cache" / "bitstream").iterdir()
    assert [path.suffix for path in kept] == [".lock"]


def test_the_error_is_one_line():
    found = {"": Area(lut=1), "a": Area(lut=5), "a.b": Area(lut=8), "c": Area(lut=2)}
    assert report.cannot_be_routed("ECPIX-5", DoesNotRoute(30000, 204403, 412000), found) == (
        "the NIC cannot be routed on the ECPIX-5: 30,000 of 204,403 connections left after 412,000 "
        "tries (most LUTs in a.b 8, a 5, c 2); a smaller NIC, or more --seeds")
