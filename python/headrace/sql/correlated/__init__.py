# SPDX-License-Identifier: Apache-2.0
"""Subqueries that use the query around by equal keys, without its rows."""
