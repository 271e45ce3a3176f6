// SPDX-License-Identifier: Apache-2.0
// The class of resources in Python.
#pragma once
#include "headrace/memory/resource/resource.h"

/// Any resource; Python's classes of the single kinds derive from it.
struct Resource {
  hr::AnyResource any;
};
