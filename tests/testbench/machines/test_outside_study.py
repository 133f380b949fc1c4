"""A study from outside: a file with figures, quantities and a machine of its own."""

import json
from pathlib import Path

import pytest
from nicbed.testbench.benches.am.rtt import RttResults, Trip
from nicbed.testbench.benches.fields import plain
from nicbed.testbench.commands.reproduce import run_reproduce
from nicbed.testbench.errors import UserError
from nicbed.testbench.machines import reproduction, studies

from tests.models.signatures import logp_results

STUDY = '''
title = "A machine of ours"
source = "us"

[quantities."o_s again"]
bench = "logp"
field = "o_s"
unit = "µs"
parameters = { delays = ["0", "1"] }
knobs = { "cpu.call" = 9 }

[quantities."two words"]
bench = "rtt"
field = "words.2.rtt"
unit = "cycles"
title = "round trip, two words"

[small]
title = "Small messages"
[small."./mine.toml"]
"o_s again" = { published = 2.0 }
"two words" = { published = [90, 110] }
rtt = { published = 10 }
[small.predictions]
"./mine.toml" = ["o_s"]

[more]
title = "More"
[more.default]
"o_s again" = { published = 1.0 }
'''

RTT = plain(RttResults(100, {"2": Trip(100, 100, 100, 100, 50)}))
LOGP = plain(logp_results(o_s=110, o_r=100, g=200, L=90, rtt=600))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a study and a machine, which is not the current one."""
    monkeypatch.setattr(studies.STUDIES, "_loaded", {})
    (tmp_path / "work").mkdir()
    (tmp_path / "my_study.toml").write_text(STUDY)
    (tmp_path / "mine.toml").write_text("# Mine\n[nic]\nclock_mhz = 50\n")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list:
    """The jobs that are asked for, which all have the same outcome."""
    jobs: list = []

    def measure(wanted, tell):
        jobs.extend(wanted)
        return [{"results": {**RTT, **LOGP}, "points": {}, "checks": []} for _ in wanted]

    monkeypatch.setattr(reproduction, "measure", measure)
    return jobs


def test_its_figures_are_measured_by_benchmark_and_field(folder, asked):
    [(study, [table])] = studies.chosen("../my_study.toml/small")
    assert (study.name, table.path) == ("my_study", "my_study/small")
    found = reproduction.measured(table)
    assert [(row.figure.title, row.figure.unit, row.ours) for row in found.rows] == [
        ("o_s again", "µs", 2.2), ("round trip, two words", "cycles", 100),
        ("round trip", "µs", 12)]
    assert [row.error for row in found.rows] == [pytest.approx(0.1), 0, pytest.approx(0.2)]
    assert [(one.machine, one.ours) for one in found.predictions] == [("./mine.toml", 2.2)]
    first = asked[0]
    assert (first.bench, first.layer, first.parameters["delays"]) == ("logp", "am", ["0", "1"])
    assert first.description.nic.clock_mhz == 50
    assert [job.description.cpu.call for job in asked] == [9, 6, 6, 6]
    assert list(found.outcomes) == [("./mine.toml", "logp, am, cpu.call = 9"),
                                    ("./mine.toml", "rtt"), ("./mine.toml", "logp")]


def test_the_command_takes_its_path(folder, asked, capsys):
    run_reproduce("../my_study.toml", False, out=folder / "out")
    assert "my_study/small" in capsys.readouterr().out
    document = json.loads((folder / "out" / "reproduce-my_study.json").read_text())
    assert set(document["reproduce"]) == {"my_study/small", "my_study/more"}
    assert str(folder) not in json.dumps(document)
    run_reproduce("../my_study.toml/more", False, out=folder / "out")
    assert (folder / "out" / "reproduce-my_study-more.json").is_file()


def test_ours_come_through_the_same_door():
    assert studies.names() == ["assessment", "clumps", "sp2", "ulnp"]
    assert studies.study("sp2") is studies.STUDIES.get("sp2")
    assert studies.chosen("sp2/sizes")[0][0].name == "sp2"


@pytest.mark.parametrize("old, new, said", [
    ('title = "A machine of ours"', "title = [", "not TOML"),
    ('source = "us"', "", "source: must be a text"),
    ('source = "us"', 'source = "us"\nauthor = "me"', "author: must be a table of figures"),
    ('bench = "logp"', 'bench = "logq"', "no benchmark is called logq"),
    ('bench = "logp"', 'bench = "./absent.py"', "there is no file"),
    ('"words.2.rtt"', '"wordz.2.rtt"', "rtt has no field called wordz"),
    ('field = "o_s"', "", "field: must be a text"),
    ('unit = "µs"', 'unit = "ms"', "unit = 'ms': must be one of µs"),
    ('unit = "µs"', 'layer = "smoke"', "smoke"),
    ("{ delays", "{ delay", "logp has no parameter called delay"),
    ('"cpu.call" = 9', '"cpu.cal" = 9', "a description has no knob called cpu.cal"),
    ('knobs = { "cpu.call" = 9 }', "knobs = 9", "knobs: must be a table"),
    ('"two words"]', '"rtt"]', "nicbed has a quantity of this name"),
    ("{ published = 2.0 }", "2.0", "must be a table, { published"),
    ("published = 2.0", 'published = "two"', "published = 'two': must be a number"),
    ("published = 2.0", "publised = 2.0", "publised is none of"),
    ('"o_s again" = { published = 2.0 }', '"o_x" = { published = 2.0 }',
     "no quantity is called o_x"),
    ('title = "Small messages"', "", "my_study/small: title: must be a text"),
])
def test_a_wrong_file_is_refused_in_a_line(folder, old, new, said):
    assert old in STUDY
    (folder / "my_study.toml").write_text(STUDY.replace(old, new, 1))
    with pytest.raises(UserError) as caught:
        studies.chosen("../my_study.toml")
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("wanted, said", [
    ("../my_study.toml/smal", "my_study has no table called smal; did you mean small"),
    ("../my_studi.toml", "there is no file"),
    ("assesment", "did you mean assessment"),
])
def test_what_is_not_there_is_named_with_the_nearest(folder, wanted, said):
    with pytest.raises(UserError) as caught:
        studies.chosen(wanted)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_a_field_that_the_results_lack_is_told(folder, asked):
    (folder / "my_study.toml").write_text(STUDY.replace("words.2.rtt", "words.3.rtt"))
    [(_, [table])] = studies.chosen("../my_study.toml/small")
    with pytest.raises(UserError, match="two words: field: the results have no words.3.rtt"):
        reproduction.measured(table)
