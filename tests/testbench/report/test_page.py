"""A page of results: what it shows, and what is refused."""

import json
import re
from pathlib import Path

import pytest
from nicbed.layouts.trace import Block, Event, Kind
from nicbed.testbench.descriptions.load import load
from nicbed.testbench.errors import UserError
from nicbed.testbench.report import page
from nicbed.testbench.report.cells import cells
from nicbed.testbench.report.first_messages import MESSAGES, first_messages
from nicbed.testbench.report.sections import section
from nicbed.testbench.results.tables import table
from nicbed.testbench.timeline import Timeline

from tests.testbench.report import results


def line(folder: Path, messages: int) -> Path:
    path = folder / "line.pftrace"
    drawn = Timeline(path)
    events = [Event(10 * number + 3 * kind, number % 2, Block.SEND_LINK, kind, number, 0)
              for number in range(1, messages + 1) for kind in (Kind.BEGIN, Kind.END)]
    drawn.add(load("default"), 500, events, [])
    drawn.add(load("default"), 500, events, [])
    drawn.close()
    return path


def test_a_result_has_its_plots_tables_and_knobs(tmp_path: Path) -> None:
    found = section(results.logp(tmp_path))
    assert found.title == "logp over am" and found.held and not found.failed
    assert found.plots[0].figure is not None and len(found.plots[0].figure["data"]) == 4
    assert not isinstance(found.differences, str)
    assert ["link.latency", "4", "24"] in found.differences.rows
    titles = [one.title for one in found.tables if not isinstance(one, str)]
    assert any(title.startswith("LogP, am on 2 nodes") for title in titles)


def test_the_life_of_a_message_is_a_bar_and_a_table(tmp_path: Path) -> None:
    path = results.rtt(tmp_path)
    document = json.loads(path.read_text())
    document["breakdown"] = {"a request": [{"stage": "send call", "cycles": 12.5},
                                           {"stage": "uplink", "cycles": 4}]}
    path.write_text(json.dumps(document))
    found = section(path)
    life = found.plots[-1].figure
    assert life is not None and [one["name"] for one in life["data"]] == ["send call", "uplink"]
    last = found.tables[-1]
    assert not isinstance(last, str) and last.rows[-1][:2] == ["sum", "16.5"]


def test_a_failed_check_is_told(tmp_path: Path) -> None:
    path = results.rtt(tmp_path)
    document = json.loads(path.read_text())
    document["checks"][0]["ok"] = False
    path.write_text(json.dumps(document))
    found = section(path)
    assert found.failed and found.held == len(document["checks"]) - 1
    assert "check failed: " in page([path])


def test_the_page_is_one_file_without_a_network(tmp_path: Path) -> None:
    text = page([results.logp(tmp_path), results.sweep(tmp_path), line(tmp_path, 3)])
    ours = text.replace(text[text.index("<script>"):text.index("</script>")], "")
    assert not re.search(r"(?:src|href)=\"(?!#)", ours)
    assert text.count("data-figure=") == 3, "the signature, the life of a message, the messages"
    assert "newPlot" in text
    assert "newPlot" not in page([results.sweep(tmp_path)]), "no plot, no library"


def test_text_of_results_cannot_break_the_page(tmp_path: Path) -> None:
    path = results.rtt(tmp_path)
    document = json.loads(path.read_text())
    document["notes"] = ["a </script><b>note</b>"]
    document["breakdown"] = {"</script>": [{"stage": "<i>", "cycles": 1}]}
    path.write_text(json.dumps(document))
    text = page([path])
    assert "<b>note</b>" not in text and "&lt;b&gt;note" in text
    figures = text[text.index('id="figures"'):]
    assert "</script>" not in figures[:figures.index("</script>")].replace("<\\/script>", "")
    assert json.loads(figures[figures.index(">") + 1:figures.index("</script>")])


def test_a_table_of_a_sweep(tmp_path: Path) -> None:
    [points] = section(results.sweep(tmp_path)).tables
    assert not isinstance(points, str)
    assert points.columns == ["link.latency", "layer", "L"] and len(points.rows) == 20
    assert points.figures == [True, False, True]


def test_the_first_messages_of_the_first_run(tmp_path: Path) -> None:
    found = first_messages(line(tmp_path, MESSAGES + 5))
    assert [one["name"] for one in found["data"]] == [f"message {n + 1}" for n in range(MESSAGES)]
    assert all(len(one["x"]) == 1 for one in found["data"]), "the second run is left out"
    assert found["data"][0]["base"] == [0]
    assert found["layout"]["yaxis"]["categoryarray"] == ["node 1 · uplink", "node 0 · uplink"]


def test_cells_are_the_terminals() -> None:
    found = cells(table("A title", ["name", "cycles"], [("[bold]one[/]", "1,024")], caption="so"))
    assert (found.title, found.columns, found.figures, found.rows, found.caption) == (
        "A title", ["name", "cycles"], [False, True], [["one", "1,024"]], "so")


@pytest.mark.parametrize("name, content, told", [
    ("none.json", None, "there is no such file"),
    ("a.json", "{", "is no result file of nicbed"),
    ("a.json", "[1]", "is no result file of nicbed"),
    ("a.csv", "", "is no table"),
    ("a.pftrace", "\x0a\x0a", "is no time line"),
])
def test_what_is_no_result_is_refused_in_one_line(tmp_path: Path, name: str, content: str | None,
                                                  told: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises(UserError, match=told) as error:
        page([path])
    assert "\n" not in str(error.value)


def test_a_result_that_lacks_something_is_refused(tmp_path: Path) -> None:
    path = results.rtt(tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "results": {}}))
    with pytest.raises(UserError, match="rtt.json: has no 'rtt', as a result of rtt has"):
        page([path])


def test_a_time_line_without_messages_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing was sent"):
        first_messages(line(tmp_path, 0))


def test_a_result_of_a_layer_that_is_not_here_is_shown_plainly(tmp_path: Path) -> None:
    """As of a layer of one's own, which a result has by its name alone."""
    path = results.rtt(tmp_path)
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "layer": "lost_layer"}))
    found = section(path)
    assert "no layer is called lost_layer" in found.notes[-1] and not found.plots
    assert "rtt over lost_layer" in page([path])
