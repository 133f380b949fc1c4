"""gm_status_t."""

from ...layouts.gm import Status as GM_STATUS

__all__ = ["GM_STATUS"]
