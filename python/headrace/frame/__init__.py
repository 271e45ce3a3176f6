# SPDX-License-Identifier: Apache-2.0
"""Data frames: the class, and one module per topic of its methods."""
