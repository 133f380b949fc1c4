"""first_bench: how long a node waits until so many messages of another are there."""

from collections.abc import Mapping
from dataclasses import dataclass

from nicbed.testbench.benches import Benchmark, figure, setting
from nicbed.testbench.benches.common.programs import stamp

__all__ = ["FirstBench"]


@dataclass(frozen=True)
class Parameters:
    """Each field is an option of the command line."""

    size: int = setting(8, "bytes of a message", unit="bytes")
    counts: list[int] = setting([1, 2, 8], "messages in a row")


@dataclass(frozen=True)
class Results:
    """Each field is a figure, with its unit and what it means."""

    last: Mapping[str, float] = figure("cycles", "until the last message is there")


class FirstBench(Benchmark):
    """Node 0 sends messages in a row, node 1 notes when they are there."""

    name = "first_bench"
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
