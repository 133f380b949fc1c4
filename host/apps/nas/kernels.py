"""The kernels by name, each imported when first needed."""

import importlib

from .kernel import Kernel

__all__ = ["KERNELS", "get"]

KERNELS = {
    "is": ("integer_sort", "IntegerSort"),
    "ep": ("parallel", "EmbarrassinglyParallel"),
    "cg": ("conjugate_gradient", "ConjugateGradient"),
    "mg": ("multigrid", "Multigrid"),
    "ft": ("fourier", "Fourier"),
    "lu": ("flow.lu", "LowerUpper"),
    "sp": ("flow.sp", "ScalarPentadiagonal"),
    "bt": ("flow.bt", "BlockTridiagonal"),
}
"""Module and class of each."""


def get(name: str) -> type[Kernel]:
    """The kernel called ``name``."""
    module, kernel = KERNELS[name]
    found: type[Kernel] = getattr(importlib.import_module(f".{module}", __package__), kernel)
    return found
