// SPDX-License-Identifier: Apache-2.0
// Operations on columns of each dtype give what Python gives: testdata/frames/dtype_results.txt,
// which tools/make_dtype_results.py writes.
#include "headrace/base/error.h"
#include "headrace/data/timezone_rules.h"
#include "headrace/frame/frame.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>

namespace hr {
namespace {

using namespace std::chrono_literals;

constexpr const char* kOperators[] = {"+", "-", "*", "/", "==", "!=", "<", ">="};
constexpr const char* kAggregates[] = {"min",      "max",     "count", "size", "first",
                                       "last",     "nunique", "sum",   "mean", "median",
                                       "quantile", "var",     "std",   "any",  "all"};

// The folder of this name that is nearest above the program.
std::filesystem::path found_folder(const char* name) {
  std::filesystem::path at = std::filesystem::read_symlink("/proc/self/exe");
  while (at.has_relative_path() && !std::filesystem::exists(at / name)) at = at.parent_path();
  return at / name;
}

std::string rows_of(const Frame& frame) {
  std::string dtypes, text;
  for (const std::string& name : frame.columns())
    dtypes += (dtypes.empty() ? "" : ", ") + std::string(frame[name].dtype().name());
  write_csv(frame.table(), [&](std::string_view piece) { text += piece; }, {.line_end = "; "});
  text.erase(0, text.find("; ") + 2);
  return dtypes + ": " + text.substr(0, text.size() - 2);
}

std::string rows_of(const Series& series) {
  return rows_of(Frame({{"x", series}}));
}

Series compute(std::string_view word, const auto& a, const auto& b) {
  if (word == "+") return a + b;
  if (word == "-") return a - b;
  if (word == "*") return a * b;
  if (word == "/") return a / b;
  if (word == "==") return a == b;
  if (word == "!=") return a != b;
  if (word == "<") return a < b;
  return a >= b;
}

class DtypeResults : public ::testing::Test {
 protected:
  void SetUp() override {
    const Dtype utc = Dtype::timestamp(TimeUnit::kMicro, "UTC"),
                zoned = Dtype::timestamp(TimeUnit::kSecond, "+02:00");
    set_timezone_rules(utc, {.changes = {}, .offsets = {0}});
    set_timezone_rules(zoned, {.changes = {}, .offsets = {7200}});
    const std::filesystem::path folder = found_folder("testdata") / "frames";
    frame_ =
        read_csv(folder / "dtypes.csv", {.dtypes = {{"label", TypeId::kCategory},
                                                    {"second", Dtype::timestamp(TimeUnit::kSecond)},
                                                    {"nano", Dtype::timestamp(TimeUnit::kNano)},
                                                    {"utc", utc},
                                                    {"zoned", zoned},
                                                    {"price", Dtype::decimal(9, 2)},
                                                    {"rate", Dtype::decimal(15, 4)}}});
    frame_ = frame_.assign("took", frame_["second"] - frame_["day"]);
    frame_ = frame_.assign("wait", frame_["nano"] - frame_["second"]);
    std::ifstream file(folder / "dtype_results.txt");
    for (std::string line; std::getline(file, line);) {
      const size_t end = line.find(": ");
      expected_[line.substr(0, end)] = line.substr(end + 2);
    }
    ASSERT_FALSE(expected_.empty());
  }

  // What an operation gives, or that it is an error.
  void expect(const std::string& title, const auto& compute) {
    const auto found = expected_.find(title);
    try {
      const std::string rows = rows_of(compute());
      EXPECT_EQ(rows, found == expected_.end() ? "an error" : found->second) << title;
    } catch (const Error& error) {
      EXPECT_TRUE(found == expected_.end()) << title << ": " << error.what();
    }
  }

  Frame frame_;
  std::map<std::string, std::string> expected_;
};

// Calls `use` with each literal and its name.
void for_each_literal(const auto& use) {
  using namespace std::chrono;
  use("'b'", "b");
  use("'2024-03-01'", std::string("2024-03-01"));
  use("'2024-02-29 02:00'", std::string_view("2024-02-29 02:00"));
  use("date", 2024y / March / 1);
  use("36 hours", 36h);
  use("2.25", DecimalLiteral{"2.25"});
}

TEST_F(DtypeResults, AsText) {
  for (const std::string& name : frame_.columns()) {
    std::string text = frame_.select(name).to_string();
    for (size_t at = 0; (at = text.find('\n', at)) != text.npos;) text.replace(at, 1, "\\n");
    EXPECT_EQ(text, expected_["to_string " + name]);
  }
}

TEST_F(DtypeResults, OfTwoColumns) {
  for (const std::string& left : frame_.columns())
    for (const std::string& right : frame_.columns())
      for (const char* word : kOperators)
        expect(left + " " + word + " " + right,
               [&] { return compute(word, frame_[left], frame_[right]); });
}

TEST_F(DtypeResults, OfColumnsAndLiterals) {
  for (const std::string& name : frame_.columns())
    for_each_literal([&](const std::string& literal, const auto& value) {
      for (const char* word : kOperators) {
        expect(name + " " + word + " " + literal,
               [&] { return compute(word, frame_[name], value); });
        expect(literal + " " + word + " " + name,
               [&] { return compute(word, value, frame_[name]); });
      }
      expect("fillna " + name + " " + literal, [&] { return frame_[name].shift().fillna(value); });
    });
}

TEST_F(DtypeResults, OfGroups) {
  for (const std::string& name : frame_.columns()) {
    expect("group " + name, [&] {
      return frame_.group_by(name).agg({{"count", "price", "count"}, {"first", "second", "first"}});
    });
    for (const char* word : kAggregates)
      expect(word + (" " + name),
             [&] { return frame_.group_by("label").agg({{"x", name, word}}); });
  }
}

TEST_F(DtypeResults, OfRowsTogether) {
  const Series row(std::vector<int64_t>{0, 1, 2, 3, 4});
  for (const std::string& left : frame_.columns()) {
    expect("sort " + left, [&] { return frame_.assign("i", row).sort_values(left).select("i"); });
    for (const std::string& right : frame_.columns()) {
      expect("concat " + left + " " + right,
             [&] { return concat({Frame({{"x", frame_[left]}}), Frame({{"x", frame_[right]}})}); });
      for (const char* how : {"inner", "outer"})
        expect("merge " + left + " " + right + " " + how, [&] {
          return Frame({{"k", frame_[left]}, {"i", row}})
              .merge(Frame({{"k", frame_[right]}, {"j", row}}), "k", {.how = how});
        });
    }
  }
}

}  // namespace
}  // namespace hr
