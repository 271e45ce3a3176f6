# SPDX-License-Identifier: Apache-2.0
"""Settings that all Python tests share."""

import os

import pytest
from hypothesis import HealthCheck, settings

import headrace as hr

# The same examples in every run: a failure that cannot be repeated helps nobody. Time limits are
# off, since the machines that run the tests are busy.
settings.register_profile(
    "headrace", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("headrace")


@pytest.fixture(autouse=True)
def empty_ledger() -> None:
    """No test sees the copies of the tests before it."""
    hr.memory.ledger().clear()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Blocks between guard pages neither wait in a pool nor move to the disk."""
    if item.get_closest_marker("pool") and os.environ.get("HEADRACE_DEBUG_MEMORY") == "1":
        pytest.skip("needs the pool, and guard pages stand in its place")
