// SPDX-License-Identifier: Apache-2.0
// One object a process, and a new one in a child.
#include "headrace/base/process_global.h"

#include <gtest/gtest.h>

#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace hr {
namespace {

struct Counter {
  int value = 0;
};

TEST(ProcessGlobal, IsMadeOnceForEachTypeAndMaker) {
  process_global<Counter>().value = 3;
  EXPECT_EQ(process_global<Counter>().value, 3);
  const auto first = [] { return std::string("first"); };
  std::string& one = process_global(first);
  EXPECT_EQ(&process_global(first), &one);
  EXPECT_EQ(process_global([] { return std::string("second"); }), "second");
  EXPECT_EQ(one, "first");
}

TEST(ProcessGlobal, AChildHasANewOneWhereItAsksForIt) {
  process_global<Counter>().value = 4;
  fresh_after_fork<Counter>().value = 5;
  const pid_t child = fork();
  if (child == 0)
    _exit(fresh_after_fork<Counter>().value == 0 && process_global<Counter>().value == 4 ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(fresh_after_fork<Counter>().value, 5);
}

}  // namespace
}  // namespace hr
