# SPDX-License-Identifier: Apache-2.0
"""Dashboards: linked charts in a page, brushed by hand or from Python."""
