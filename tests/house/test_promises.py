"""docs/reference/promises.md is what the tests promise. ``--update`` rewrites it."""

from tests.labs import promises

UPDATE = "run: ./nicbed test -k promises --update"


def test_page_is_up_to_date(request):
    if request.config.getoption("--update"):
        promises.PAGE.write_text(promises.page(), encoding="utf-8")
        return
    assert promises.PAGE.read_text(encoding="utf-8") == promises.page(), UPDATE


def test_each_promise_is_whole_and_made_once():
    found = promises.made()
    assert len(found) > 15 and all(all(promise) for promise in found)
    heads = [(promise.what, promise.condition) for promise in found]
    assert len(set(heads)) == len(heads)
