# SPDX-License-Identifier: Apache-2.0
"""Synthetic data, and the ECG job that `python -m headrace.demo` runs."""

from headrace.demo.generator import KINDS, RATE, ecg, record

__all__ = ["KINDS", "RATE", "ecg", "record"]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
