# SPDX-License-Identifier: Apache-2.0
"""Made-up data, and the whole ECG job as `python -m headrace.demo` runs it."""

from headrace.demo.generator import KINDS, RATE, ecg, record

__all__ = ["KINDS", "RATE", "ecg", "record"]
