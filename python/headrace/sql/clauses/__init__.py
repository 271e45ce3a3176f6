# SPDX-License-Identifier: Apache-2.0
"""Clauses of SELECT: what they name, group and order by."""
