"""Events of GM are values."""

from nicbed.host.gm.events import GM_EVENT, NOTHING, Event


def test_equal_events_are_one_key():
    none, sent = Event(GM_EVENT.GM_NO_RECV_EVENT), Event(GM_EVENT.GM_SENT_EVENT, token=3)
    assert {NOTHING, none, sent, Event(GM_EVENT.GM_SENT_EVENT, token=3)} == {NOTHING, sent}
    assert sent != Event(GM_EVENT.GM_SENT_EVENT, token=4)
