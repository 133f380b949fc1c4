"""Errors that a user can cause (:mod:`nicbed.layouts.errors`), under the testbench's name."""

from ..layouts.errors import UserError, nearest

__all__ = ["UserError", "nearest"]
