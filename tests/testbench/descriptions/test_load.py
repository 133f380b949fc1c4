"""NIC descriptions: files, overrides, and one line for whatever is wrong."""

import re
from fractions import Fraction

import pytest
from nicbed.layouts.description import Description, knobs
from nicbed.testbench.descriptions.load import difference, find, for_layer, load, names, parse_set
from nicbed.testbench.errors import UserError


def test_default_file_is_the_declared_default():
    """Knobs in a layer's own folder are not in it: a description has them where the layer runs."""
    import tomllib

    table = tomllib.loads(find("default").read_text())
    assert load() == Description()
    listed = {f"{section}.{key}" for section, content in table.items() for key in content}
    assert listed == {knob.name for knob in knobs(Description())}


@pytest.mark.parametrize("name", names())
def test_a_file_says_of_each_knob_what_its_declaration_says(name):
    declared = {knob.name: f"{knob.unit}: {knob.doc}" if knob.unit else knob.doc
                for knob in knobs()}
    said, section = {}, ""
    for line in find(name).read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif found := re.match(r"(\w+) = \S+ +# (.*)", line):
            said[f"{section}.{found[1]}"] = found[2]
    assert said and said == {knob: declared[knob] for knob in said}


def test_ideal_costs_nothing():
    ideal = load("ideal")
    assert ideal.cpu.call == ideal.cpu.copy_word == 0
    assert ideal.bus.pio_write == 1 and ideal.memory.latency == 0
    assert ideal.link == Description().link


def test_names_and_paths(tmp_path):
    assert {"default", "ideal"} <= set(names())
    assert find("nics/ideal.toml").name == "ideal.toml"
    own = tmp_path / "mine.toml"
    own.write_text("[link]\nlatency = 40\n")
    assert load(str(own)).link.latency == 40


def test_overrides_win_and_are_typed():
    description = load("ideal", ["link.latency=12", "cpu.call=3", "link.bytes_per_cycle=160/33",
                                 "nic.overflow=drop", "faults.drop=0.1"], nodes=4)
    assert description.link.latency == 12 and description.cpu.call == 3
    assert description.link.bytes_per_cycle == Fraction(160, 33)
    assert description.fabric.nodes == 4 and description.faults.drop == 0.1
    assert description.nic.overflow == "drop"
    assert parse_set("memory.bytes=0x100000") == ("memory.bytes", 1 << 20)


@pytest.mark.parametrize(("text", "parts"), [
    ("[link]\nlatancy = 4\n", ["link.latancy", "4", "link.latency"]),
    ("[lnk]\nlatency = 4\n", ["lnk", "link"]),
    ("link = 4\n", ["link = 4", "[link]"]),
    ("[link]\nlatency = \"4 ns\"\n", ["link.latency", "'4 ns'", "whole number of cycles"]),
    ("[link]\nlatency = 4.5\n", ["link.latency", "4.5", "whole number of cycles"]),
    ("[link]\nlatency = true\n", ["link.latency", "True", "whole number"]),
    ("[link]\nlatency = 70000\n", ["link.latency", "70000", "0 to 65535"]),
    ("[link]\nbytes_per_cycle = \"fast\"\n", ["link.bytes_per_cycle", "'fast'", "fraction"]),
    ("[nic]\nmtu = 100\n", ["nic.mtu", "100", "a multiple of 8"]),
    ("[nic]\nmtu = 1026\n", ["nic.mtu", "1026", "a multiple of 4"]),
    ("[nic]\nmtu = 9000\n", ["nic.send_fifo", "4096", "hold one packet of 9028 bytes"]),
    ("[nic]\nmtu = 9004\n", ["nic.mtu", "9004", "64 to 9000"]),
    ("[nic]\nmtu = 1500\nprocessor = \"picorv32\"\n",
     ["nic.mtu = 1500", "at most 1024 where nic.processor = 'picorv32'"]),
    ("[nic]\nmtu = 1500\nattachment = \"memory_bus\"\n",
     ["nic.mtu = 1500", "at most 1024 where nic.attachment = 'memory_bus'"]),
    ("[nic]\nmtu = 1500\n[via]\ndesign = \"engine\"\n",
     ["nic.mtu = 1500", "at most 1024 where via.design = 'engine'"]),
    ("[nic]\noverflow = \"lose\"\n", ["nic.overflow", "'lose'", "'push' or 'drop'"]),
    ("[nic]\nsend_fifo = 512\n", ["nic.send_fifo", "512", "hold one packet"]),
    ("[nic]\nsend_fifo = 5000\n", ["nic.send_fifo", "5000", "power of two"]),
    ("[nic]\nsend_ring = 2\n", ["nic.send_ring", "2", "0 or at least 4"]),
    ("[fabric]\nnodes = 65\n", ["fabric.nodes", "65", "2 to 64"]),
    ("[switch]\nports = 4\n[fabric]\nnodes = 5\n", ["fabric.nodes", "5", "room for 4 nodes",
                                                "1 switch (", "switch.ports = 5 would be enough"]),
    ("[am]\nreply_window = 75\n", ["am.reply_window", "75", "larger than"]),
    ("[link\n", ["not TOML"]),
])
def test_bad_files_are_one_line(tmp_path, text, parts):
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(UserError) as caught:
        load(str(file))
    message = str(caught.value)
    assert "\n" not in message and message.startswith(str(file))
    for part in parts:
        assert part in message


@pytest.mark.parametrize(("text", "parts"), [
    ("link.latency", ["KNOB=VALUE"]),
    ("latency=4", ["latency", "link.latency"]),
    ("link.latancy=4", ["did you mean link.latency"]),
    ("link.latency=4ns", ["link.latency", "'4ns'", "whole number of cycles", "as a number alone"]),
    ("link.latency=-1", ["--set", "link.latency", "-1", "0 to 65535"]),
    ("link.bytes_per_cycle=1/0", ["link.bytes_per_cycle", "'1/0'", "must not be 0"]),
    ("link.bytes_per_cycle=2bytes/cycle", ["give bytes/cycle, as a number alone"]),
    ("nic.clock_mhz=0", ["nic.clock_mhz = 0", "a number or a fraction", "above 0 to 1000"]),
    ("faults.drop=2", ["faults.drop", "2.0", "0 to 1"]),
    ("nic.receive_ring=100", ["--set", "nic.receive_ring = 100", "power of two"]),
])
def test_bad_overrides_are_one_line(text, parts):
    with pytest.raises(UserError) as caught:
        load("default", [text])
    assert "\n" not in str(caught.value)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize("value", ["1/0", "1/2/3", "4.5", "4,5"])
def test_no_hint_about_units_without_a_unit(value):
    with pytest.raises(UserError) as caught:
        load("default", [f"link.latency={value}"])
    assert "as a number alone" not in str(caught.value)


@pytest.mark.parametrize(("nodes", "switches", "ports"), [(16, 1, 4), (16, 2, 8), (9, 4, 3)])
def test_the_advice_for_too_few_ports_works(nodes, switches, ports):
    chosen = [f"fabric.switches={switches}"]
    with pytest.raises(UserError, match="^--nodes: ") as caught:
        load(overrides=[*chosen, f"switch.ports={ports}"], nodes=nodes)
    enough = int(re.findall(r"switch.ports = (\d+) would be enough", str(caught.value))[0])
    assert load(overrides=[*chosen, f"switch.ports={enough}"], nodes=nodes)
    with pytest.raises(UserError):
        load(overrides=[*chosen, f"switch.ports={enough - 1}"], nodes=nodes)


def test_missing_file():
    with pytest.raises(UserError, match="idael: no such NIC description; did you mean ideal"):
        load("idael")
    with pytest.raises(UserError, match="must hold|2 to 16|room"):
        load(nodes=17)


@pytest.mark.parametrize(("asked", "layer", "design"), [
    ("auto", "via", "engine"), ("auto", "am", "kernel"), ("engine", "am", "engine"),
    ("kernel", "via", "kernel")])
def test_a_layer_decides_what_is_left_to_it_and_nothing_else(asked, layer, design):
    before = load(overrides=[f"via.design={asked}"])
    after = for_layer(before, layer)
    assert after == load(overrides=[f"via.design={design}"])
    assert before.via.design == asked


@pytest.mark.parametrize(("changes", "layer", "refused"), [
    ([], "am", "layer am needs a send ring"),
    (["via.design=kernel"], "via", "via.design = 'kernel' needs"),
    ([], "via", ""), (["nic.processor=serv"], "am", ""), (["nic.processor=serv"], "via", "")])
def test_who_does_without_a_send_ring(changes, layer, refused):
    description = load(overrides=["nic.send_ring=0", *changes])
    if refused:
        with pytest.raises(UserError, match=f"nic.send_ring = 0: .*{refused}"):
            for_layer(description, layer)
    else:
        assert for_layer(description, layer).nic.send_ring == 0


def test_long_packets_are_for_nics_with_rings():
    long = load(overrides=["nic.mtu=1500"])
    assert for_layer(long, "am").nic.mtu == 1500
    assert for_layer(load(overrides=["nic.mtu=1500", "via.design=kernel"]), "via").nic.mtu == 1500
    with pytest.raises(UserError, match="nic.mtu = 1500: layer via on a VI engine takes at most "
                                        "1024; try --set via.design=kernel"):
        for_layer(long, "via")


def test_the_design_points_of_via_differ_in_their_keys_alone():
    points = [load("via-doorbell"), load("via-kernel"), load("via-table")]
    assert difference(points) == {"via.design": ["engine", "kernel", "engine"],
                                  "via.translation": ["cache", "cache", "table"]}
    assert difference([for_layer(Description(), "via"), points[0]]) == {}


def test_difference_names_each_knob_that_differs():
    assert difference([load(), load("ideal"), load(overrides=["link.bytes_per_cycle=160/33"])])[
        "link.bytes_per_cycle"] == [2, 2, "160/33"]


@pytest.mark.parametrize("fault", ["drop", "corrupt", "duplicate"])
def test_what_sends_nothing_again_needs_a_network_that_loses_nothing(fault):
    lossy = load("default", ["nic.processor=picorv32", f"faults.{fault}=0.1", "faults.delay=0.1"])
    with pytest.raises(UserError, match=f"^faults.{fault} = 0.1: layer fm sends nothing again"):
        for_layer(lossy, "fm")
    assert for_layer(lossy, "fm", ours=False).faults == lossy.faults
    for layer in ("am", "gm", "mpl"):
        for_layer(lossy, layer)
    for_layer(load("default", ["nic.processor=picorv32", "faults.delay=0.1"]), "fm")
