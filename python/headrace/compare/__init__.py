# SPDX-License-Identifier: Apache-2.0
"""Runs a pandas script with pandas and with Headrace, and tells what differs.

``python -m headrace.compare script.py`` prints what differs, what is missing and what is slower,
step by step: a step is a statement, or a cell where the script has lines ``# %%``. `compare` is the
same for programs and tests. The script runs twice, with all that it does; nothing else is run.
"""

from __future__ import annotations

from headrace.compare.script import Outcome, compare
from headrace.compare.values import difference

__all__ = ["Outcome", "compare", "difference"]
