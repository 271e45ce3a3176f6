# SPDX-License-Identifier: Apache-2.0
"""Moments, durations, offsets of the calendar, and regular times."""
