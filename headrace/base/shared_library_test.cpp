// SPDX-License-Identifier: Apache-2.0
// What opens, what is missing.
#include "headrace/base/shared_library.h"

#include <gtest/gtest.h>

namespace hr {
namespace {

TEST(SharedLibrary, FindsFunctionsOfTheFirstThatOpens) {
  SharedLibrary library({"libof-no-one.so", "libm.so.6"});
  double (*root)(double) = nullptr;
  ASSERT_TRUE(library.load("sqrt", root));
  EXPECT_EQ(root(16), 4);
  EXPECT_EQ(library.missing(), "");
  EXPECT_FALSE(library.load("of_no_one", root));
  EXPECT_EQ(root, nullptr);
  EXPECT_FALSE(library.load("of_no_one_else", root));
  EXPECT_EQ(library.missing(), "of_no_one");
}

TEST(SharedLibrary, OneThatDoesNotOpenIsMissingItself) {
  SharedLibrary library({"libof-no-one.so", "/none/libof-no-one.so"});
  void (*function)() = [] {};
  EXPECT_FALSE(library.load("sqrt", function));
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(library.missing(), "libof-no-one.so");
}

}  // namespace
}  // namespace hr
