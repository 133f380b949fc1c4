"""A layer and a benchmark that are not nicbed's, each a file in a folder of its own."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from nicbed.layouts.doors import LAYERS
from nicbed.layouts.errors import UserError
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.benches import every, named
from nicbed.testbench.benches.fields import figure, plain, read
from nicbed.testbench.cli.entry import run_command
from nicbed.testbench.descriptions import load
from nicbed.testbench.store.keys import key
from nicbed.testbench.testbed.bed import Testbed

LAYER = '''
"""A layer: messages are requests of Active Messages, nothing else."""

from nicbed.host.am import Gam
from nicbed.host.endpoint import Endpoint
from nicbed.layouts.doors import Layer


class TapEndpoint(Endpoint):
    crowds = True

    def __init__(self, node, exchange):
        super().__init__(node, exchange)
        self.am = Gam(node, [self._took])

    @classmethod
    def largest(cls, description):
        return 16

    async def open(self):
        await self.am.enable()

    async def send(self, peer, stream=0):
        self.on_send(peer, stream)
        await self.am.request(self.node.address_on(peer), 0, *range(self.exchange.size // 4))

    async def poll(self):
        await self.am.poll()

    async def wait(self, condition):
        await self.am.wait(condition)

    async def close(self, spin=None):
        await self.am.disable(spin)

    def _took(self, am, source, *words):
        self.received += 1
        self.on_message(self.node.node_of(source), 0)


def needs(description, name):
    if description.link.latency > 1000:
        yield f"link.latency = {description.link.latency}: {name} is for short links"


LAYER = Layer(name="tap", title="requests alone", endpoint=TapEndpoint, needs=needs)
'''

BENCH = '''
"""How long a node waits for the first message of another."""

from collections.abc import Mapping
from dataclasses import dataclass

from nicbed.testbench.benches import Benchmark, figure, setting
from nicbed.testbench.benches.common.programs import stamp


@dataclass(frozen=True)
class Parameters:
    size: int = setting(8, "bytes of a message", unit="bytes")
    counts: list[int] = setting([1, 2], "messages in a row")


@dataclass(frozen=True)
class Results:
    last: Mapping[str, float] = figure("cycles", "until the last message is there")


class First(Benchmark):
    name = "first"
    title = "time until the last of some messages is there"
    Parameters = Parameters
    Results = Results

    def programs(self, parameters, endpoint):
        most = max(parameters.counts)

        async def sends(node):
            side = endpoint(node)
            await side.open()
            for _ in range(most):
                await side.send(1)
            await side.close()

        async def takes(node):
            side = endpoint(node)
            await side.open()
            times = []
            for count in range(1, most + 1):
                await side.receive(count)
                times.append(stamp(node))
            await side.close()
            return times

        return {0: sends, 1: takes}

    def evaluate(self, run, description, parameters):
        times = [one[0] / 256 for one in run.results[1]]
        return Results({str(count): times[count - 1] for count in parameters.counts})
'''


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    (tmp_path / "tap.py").write_text(LAYER)
    (tmp_path / "first.py").write_text(BENCH)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def measured(bench: str, layer: str, nodes: int = 2, **parameters):
    """What is measured on the functional target, in a process of its own."""
    name, found = named(bench)
    name = getattr(name, "reference", name)
    layer = layer if LAYERS.is_builtin(layer) else LAYERS.resolve(layer)
    description = load.for_layer(load.load(nodes=nodes), layer)
    chosen = {**found.module(layer).parameters(description), **parameters}
    return run_job(description, "model", function="nicbed.testbench.benches:run",
                   arguments={"name": name, "layer": layer, "parameters": chosen})


def test_a_layer_has_the_benchmarks_that_its_endpoint_can_carry(place):
    tap = LAYERS.resolve("./tap.py")
    assert {name for name, one in every() if tap in one.layers} == {
        "logp", "latency", "bandwidth", "incast", "alltoall", "nics"}
    own = measured("latency", "./tap.py", sizes=[4, 16, 64], trips=2, warm=1)
    ours = measured("latency", "am", sizes=[4, 16], trips=2, warm=1)
    assert set(own["results"]["half"]["latency"]) == {"4", "16"}  # not 64, its largest is 16
    assert own["results"] == ours["results"]
    assert not [one for one in own["checks"] if not one["ok"]]


def test_many_nodes_send_over_it(place):
    found = measured("incast", "./tap.py", 3, senders=[2], sizes=[16], bytes=480, loss=[0.01])
    [by_senders] = found["results"]["incast"]["16"].values()
    assert by_senders["2"]["goodput"] > 0


def test_what_a_layer_needs_is_asked(place):
    with pytest.raises(UserError, match="^link.latency = 2000: layer tap is for short links$"):
        load.for_layer(load.load(overrides=["link.latency=2000"]), LAYERS.resolve("./tap.py"))
    with pytest.raises(UserError, match="^rtt does not exist for layer tap: it takes --layer am; "
                                        "with --layer tap there are: logp, .*latency"):
        Testbed(nodes=2).benchmark("rtt", layer="./tap.py")


@pytest.mark.parametrize("layer", ["am", "./tap.py"])
def test_a_benchmark_from_a_file(place, layer):
    found = measured("./first.py", layer, counts=[1, 3])
    last = found["results"]["last"]
    assert list(last) == ["1", "3"]
    assert 0 < last["1"] < last["3"]


def test_its_tables_and_figures_are_from_its_fields(place):
    _, bench = named("./first.py")
    document = {"results": {"last": {"1": 10.0, "2": 12.0}}, "clock_mhz": 1}
    assert [(one.name, one.value, one.unit) for one in bench.headline(document)] == [
        ("last, 1", 10.0, "cycles"), ("last, 2", 12.0, "cycles")]
    assert bench.tables(document)


def test_parameters_are_options_and_are_in_the_key(place):
    bed = Testbed(nodes=2)
    usual = bed.benchmark("./first.py")
    assert usual.name == "first"
    assert usual.layer == "am"
    changed = bed.benchmark("./first.py", parameters={"size": "16", "counts": "3,4"})
    assert changed.parameters == {"size": 16, "counts": [3, 4]}
    assert key(usual) == key(bed.benchmark("./first.py", parameters={"size": 8}))
    assert key(usual) != key(changed)
    with pytest.raises(UserError, match="^first has no parameter sise; did you mean size"):
        bed.benchmark("./first.py", parameters={"sise": "16"})
    with pytest.raises(UserError, match="^--size much: must be a whole number$"):
        bed.benchmark("./first.py", parameters={"size": "much"})


def test_its_source_is_in_the_key(place):
    bed = Testbed(nodes=2)
    before = key(bed.benchmark("./first.py"))
    other = key(bed.benchmark("./first.py", layer="./tap.py"))
    (place / "first.py").write_text(BENCH.replace("await side.close()", "await side.close() "))
    assert len({before, other, key(bed.benchmark("./first.py"))}) == 3


def test_a_dataclass_that_is_read_again_is_the_same():
    from nicbed.testbench.benches.am.rtt import RttResults, Trip

    one = RttResults(3.0, {"1": Trip(3.0, 2.0, 3.0, 4.0, 1.5)})
    assert read(RttResults, json.loads(json.dumps(plain(one)))) == one


@dataclass(frozen=True)
class Part:
    time: float = figure("cycles", "a time")


@dataclass(frozen=True)
class Whole:
    sides: Mapping[str, Sequence[Part]] = figure("cycles", "by size")
    most: Part | None = figure("cycles", "where there is one", optional=True)


def test_dataclasses_in_lists_and_optional_fields_are_read_again():
    some = Whole({"4": [Part(1.0), Part(2.0)]})
    assert plain(some) == {"sides": {"4": [{"time": 1.0}, {"time": 2.0}]}}
    for one in (some, Whole(some.sides, Part(3.0))):
        assert read(Whole, json.loads(json.dumps(plain(one)))) == one


@pytest.mark.parametrize("arguments, said", [
    (["bench", "./first.py", "--sise", "3"], "first has no parameter sise"),
    (["bench", "./frist.py"], "there is no file ./frist.py; did you mean first.py"),
    (["bench", "latency", "--layer", "./tpa.py"], "there is no file ./tpa.py"),
    (["bench", "rtt", "--foo"], "No such option '--foo'"),
    (["bench", "rtt", "much"], "unexpected extra argument (much)"),
])
def test_errors_are_one_line(place, monkeypatch, capsys, arguments, said):
    monkeypatch.setattr("sys.argv", ["nicbed", *arguments])
    with pytest.raises(SystemExit) as ended:
        run_command()
    assert ended.value.code == 2
    assert said in (line := capsys.readouterr().err) and line.count("\n") == 1
