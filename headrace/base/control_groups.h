// SPDX-License-Identifier: Apache-2.0
// The control groups (cgroups) of Linux that limit a process, as in a container.
#pragma once
#include "headrace/base/api.h"

#include <string>
#include <vector>

namespace hr {

/// Folders with the limits of a controller ("cpu", "memory") for this process: those of its control
/// groups, of the groups above them and of the root, of both versions. Some may not exist.
HR_API std::vector<std::string> control_groups(const std::string& controller);

/// The same for the groups that `groups` lists (the text of /proc/self/cgroup) under `root`
/// (/sys/fs/cgroup).
HR_API std::vector<std::string> control_groups(const std::string& controller,
                                               const std::string& groups, const std::string& root);

}  // namespace hr
