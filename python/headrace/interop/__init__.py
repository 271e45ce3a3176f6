# SPDX-License-Identifier: Apache-2.0
"""Memory and names shared with other libraries and processes."""
