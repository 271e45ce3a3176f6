# SPDX-License-Identifier: Apache-2.0
"""Arrays: the class and NumPy's functions on it."""
