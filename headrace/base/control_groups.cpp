// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/control_groups.h"

#include <fstream>
#include <iterator>
#include <sstream>

namespace hr {

std::vector<std::string> control_groups(const std::string& controller, const std::string& groups,
                                        const std::string& root) {
  std::vector<std::string> folders{root, root + "/" + controller};
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {  // "4:cpu,cpuacct:/a/b", or "0::/a/b"
    const size_t names = line.find(':'), path = line.find(':', names + 1);
    if (names == std::string::npos || path == std::string::npos) continue;
    const std::string of = line.substr(names + 1, path - names - 1);
    if (!of.empty() && ("," + of + ",").find("," + controller + ",") == std::string::npos) continue;
    const std::string mount = folders[of.empty() ? 0 : 1];
    for (std::string group = line.substr(path + 1); group.size() > 1;
         group.resize(group.rfind('/')))
      folders.push_back(mount + group);
  }
  return folders;
}

std::vector<std::string> control_groups(const std::string& controller) {
  std::ifstream file("/proc/self/cgroup");
  return control_groups(controller, {std::istreambuf_iterator<char>(file), {}}, "/sys/fs/cgroup");
}

}  // namespace hr
