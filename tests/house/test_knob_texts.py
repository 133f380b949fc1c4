"""Each knob's text is one or more sentences, since ``nicbed list`` prints each alone."""

import re

import pytest
from nicbed.layouts.description import knobs

TEXTS = {knob.name: knob.doc for knob in knobs()}

VERBS = frozenset("""
    are applies can carries carry chooses come counts delays does flips goes has have holds is know
    loads means move moves multiplies needs polls provides pushes returns run runs sees
    serves spins start stops takes take translates uses vanishes wait waits work works asks
    accesses drops sends computes fails reads writes go brings fetches
    """.split())
"""A verb of the first sentence is one of these; a text with another one adds it."""


def check(text: str) -> None:
    """It begins with a capital, ends with a full stop, and its first sentence has a verb."""
    assert re.match(r"[A-Z0-9]", text), "it does not begin with a capital"
    assert text.endswith("."), "it does not end with a full stop"
    assert not re.match(r"(What|How|Where|Whether|When|Which|Of)\b", text), "it is no sentence"
    first = re.split(r"[.;:] ", text)[0]
    words = re.findall(r"[a-z]+", re.sub(r"\B'\w+'\B|\w+\.\w+", "", first))
    assert VERBS & set(words), f"its first sentence has no verb of the list: {first!r}"


@pytest.mark.parametrize("knob", TEXTS)
def test_text_is_a_sentence(knob):
    check(TEXTS[knob])


@pytest.mark.parametrize("text", [
    "of a beat of the memory port: of a cache's line so many", "The receive FIFO",
    "Whether writes are posted.", "time of flight of a link.", "Where the NIC is."])
def test_a_text_that_is_none_is_found(text):
    with pytest.raises(AssertionError):
        check(text)
