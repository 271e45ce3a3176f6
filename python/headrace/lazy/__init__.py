# SPDX-License-Identifier: Apache-2.0
"""Handles on plan nodes, profiles of plans, and Python functions traced to plans."""
