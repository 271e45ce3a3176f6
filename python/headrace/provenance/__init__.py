# SPDX-License-Identifier: Apache-2.0
"""Where values come from: sources, lineage of columns, tags and policies, records to replay."""
