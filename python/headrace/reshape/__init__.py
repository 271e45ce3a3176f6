# SPDX-License-Identifier: Apache-2.0
"""Rows to columns and back, and rows by new labels."""
