"""The command line: ``nicbed app``, ``bench``, ``check``, ``compare``, ``doctor``, ``fit``,
``gate``, ``list``, ``new``, ``optimise``, ``profile``, ``report``, ``reproduce``, ``run``,
``speed``, ``store``, ``sweep``, ``synth``, ``test``, ``whatif``, ``why``.

``entry`` is where it begins and ends; ``group`` is the command to which the other files add theirs;
``options`` is what commands share. What a command does is in ``commands``, imported inside each, so
that a command's start-up time does not include modules it does not need.
"""

# Each adds its commands.
from . import calibrating, checking, exploring, keeping, making, running, showing, starting
from .entry import main, run_command
from .group import nicbed

__all__ = ["calibrating", "checking", "exploring", "keeping", "main", "making", "nicbed",
           "run_command", "running", "showing", "starting"]
