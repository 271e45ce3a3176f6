# SPDX-License-Identifier: Apache-2.0
"""Text and HTML of frames, series, rows and arrays, and the options of it."""
