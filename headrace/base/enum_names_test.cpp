// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/enum_names.h"

#include "headrace/base/error.h"

#include <gtest/gtest.h>

namespace hr {
namespace {

enum class Fruit { kApple, kPear };
constexpr std::string_view kFruits[] = {"apple", "pear"};

TEST(EnumNames, ByTheirPlace) {
  EXPECT_EQ(enum_from_name<Fruit>("eat", "fruit", "apple", kFruits), Fruit::kApple);
  EXPECT_EQ(enum_from_name<Fruit>("eat", "fruit", "pear", kFruits), Fruit::kPear);
}

TEST(EnumNames, OthersAreAnErrorWithAllNames) {
  const auto message = [](std::string_view fix) {
    try {
      find_name("eat", "fruit", "Pear", kFruits, fix);
    } catch (const InvalidArgumentError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(""), "eat: no such fruit: fruit='Pear'; use apple, pear");
  EXPECT_EQ(message("wash it"), "eat: no such fruit: fruit='Pear'; wash it");
}

}  // namespace
}  // namespace hr
