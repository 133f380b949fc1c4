"""The results of calls and sends."""

from ...layouts.vmmc import Status

__all__ = ["Status"]
