"""``python -m nicbed.testbench.cli``."""

from .entry import main

main()
