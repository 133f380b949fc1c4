"""The knobs of a layer that are in its own folder: of one that is built in, and of one from
outside."""

import pickle
from pathlib import Path

import pytest
from nicbed.layouts.description import Description, KnobError, Section, cost, knobs
from nicbed.layouts.doors import LAYERS, Layer
from nicbed.testbench.descriptions.load import for_layer, load
from nicbed.testbench.errors import UserError


class Thin(Section):
    """Knobs of the layer below."""

    window: int = cost(4, unit="frames", ge=1, le=64, doc="so many frames are in flight")


THIN = Layer(name="thin", title="frames", knobs=Thin)
OVER = Layer(name="over", title="over frames", below=lambda description: "thin")


@pytest.fixture
def built_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two more layers are built in, of which one lies on the other."""
    own = {f"{one.name}": f"{__name__}:{one.name.upper()}" for one in (THIN, OVER)}
    monkeypatch.setattr(LAYERS, "_builtin", {**LAYERS._builtin, **own})
    monkeypatch.setattr(LAYERS, "_own", {**LAYERS._own, "thin": THIN, "over": OVER})


@pytest.mark.usefixtures("built_in")
def test_a_description_has_them_where_the_layer_runs() -> None:
    plain = load("default")
    assert "thin" not in dict(plain) and plain == Description()
    for layer in ("thin", "over"):
        found = for_layer(plain, layer)
        assert found.section(Thin) == Thin() and dict(found)["thin"].window == 4
        assert dict(found) == {**dict(for_layer(plain, "raw")), "thin": Thin()}
    assert "thin" not in dict(for_layer(plain, "am"))


@pytest.mark.usefixtures("built_in")
def test_they_are_set_listed_checked_and_kept() -> None:
    assert [knob.name for knob in knobs()][-1] == "thin.window"
    found = for_layer(load("default", ["thin.window=9"]), "over")
    assert found.section(Thin).window == 9
    assert pickle.loads(pickle.dumps(found)).section(Thin).window == 9
    assert found.with_({"link.latency": 3}).section(Thin).window == 9
    assert for_layer(found, "thin") == found
    with pytest.raises(KnobError, match="thin.window = 65: must be .* 1 to 64"):
        load("default", ["thin.window=65"])
    with pytest.raises(UserError, match="no knob is called thin.windows; .* thin.window"):
        load("default", ["thin.windows=5"])


def test_where_there_are_none_they_are_as_declared() -> None:
    assert load("default").section(Thin) == Thin()


def test_a_layer_from_outside_has_them_though_none_was_set(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LAYERS, "_loaded", {})
    (tmp_path / "slim.py").write_text('''
from nicbed.layouts.description import Section, cost
from nicbed.layouts.doors import Layer

class Knobs(Section):
    window: int = cost(5, unit="frames", ge=1, le=64, doc="so many frames are in flight")

LAYER = Layer(name="slim", title="frames", knobs=Knobs)
''')
    layer = LAYERS.resolve("./slim.py", tmp_path)
    found = for_layer(load("default"), layer)
    assert dict(found)["slim"].window == 5
    assert [str(one) for one in found.outside] == ["slim"]
