# SPDX-License-Identifier: Apache-2.0
"""What FROM reads: tables joined by keys, conditions and nearest values, lists taken apart."""
