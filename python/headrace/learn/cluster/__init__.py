# SPDX-License-Identifier: Apache-2.0
"""Groups of rows that lie close together."""
