# SPDX-License-Identifier: Apache-2.0
"""Lists and structs as keys and as strings."""
