# SPDX-License-Identifier: Apache-2.0
"""Windows over rows and spans of time."""
