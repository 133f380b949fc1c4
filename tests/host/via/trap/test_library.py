"""What the library promises of waiting and completion queues, on the kernel-trap design point."""

import pytest

from tests.host.via.vipl.test_completions import (  # noqa: F401
    test_a_bad_descriptor_comes_back_with_its_error,
    test_a_completion_queue_that_overflows,
    test_marks_name_what_was_found,
    test_nothing_posted_and_nothing_done,
    test_notices_are_called_once_in_order,
    test_resizing_keeps_what_is_in_it,
    test_sends_on_an_idle_vi_flush,
    test_waiting_never_misses_one,
)
from tests.programs import vipl as vipl_programs


@pytest.fixture(autouse=True)
def kernel_design(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vipl_programs.SMALL, "via.design", "kernel")
