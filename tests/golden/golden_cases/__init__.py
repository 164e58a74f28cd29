# SPDX-License-Identifier: Apache-2.0
"""The tables of single-operator cases, one module per family of operators."""
from . import control, detection, dynamic, elementwise, indexed, movement, quantized, recurrent, reductions, sums, windows
from .case import Case

ALL_CASES = [case for module in (sums, windows, elementwise, reductions, movement, quantized, indexed,
                                 recurrent, control, detection, dynamic) for case in module.CASES]

__all__ = ["ALL_CASES", "Case"]
