# SPDX-License-Identifier: Apache-2.0
"""What NetworkX asks at its import: which functions Headrace has. Imports nothing."""

FUNCTIONS = """
"""


def get_info() -> dict[str, object]:
    """Describe the backend to NetworkX."""
    return {
        "backend_name": "headrace",
        "project": "headrace",
        "package": "headrace.networkx",
        "short_summary": "C++ kernels, the same bits for any number of threads.",
        "functions": {name: {} for name in FUNCTIONS.split()},
    }
