# SPDX-License-Identifier: Apache-2.0
"""Groups of rows: aggregates, rows and quantiles per group."""
