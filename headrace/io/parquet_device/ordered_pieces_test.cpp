// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet_device/ordered_pieces.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>
#include <vector>

namespace hr::parquet {
namespace {

class OrderedPieces : public ::testing::Test {
 protected:
  ~OrderedPieces() override { set_threads(before_); }

 private:
  int before_ = threads();
};

TEST_F(OrderedPieces, AreOpenedMadeAndSentOnce) {
  std::mt19937_64 random(1);
  for (const int num_threads : {1, 2, 4, 16})
    for (int round = 0; round < 50; ++round) {
      set_threads(num_threads);
      std::vector<int64_t> parts(random() % 40);
      for (int64_t& count : parts) count = static_cast<int64_t>(random() % 5);
      const auto most_open = static_cast<int64_t>(1 + random() % 4);
      std::vector<std::vector<std::atomic<int>>> made;
      for (const int64_t count : parts) made.emplace_back(static_cast<size_t>(count));
      std::vector<std::atomic<int>> opened(parts.size());
      std::atomic<int64_t> num_sent = 0;
      make_in_order(parts, most_open,
                    {.open =
                         [&](int64_t piece) {
                           EXPECT_LT(piece - num_sent, most_open);
                           ++opened[static_cast<size_t>(piece)];
                         },
                     .make =
                         [&](int64_t piece, int64_t part) {
                           EXPECT_EQ(opened[static_cast<size_t>(piece)], 1);
                           ++made[static_cast<size_t>(piece)][static_cast<size_t>(part)];
                         },
                     .send =
                         [&](int64_t piece) {
                           EXPECT_EQ(piece, num_sent);
                           for (const auto& times : made[static_cast<size_t>(piece)])
                             EXPECT_EQ(times, 1);
                           ++num_sent;
                         }});
      EXPECT_EQ(num_sent, std::ssize(parts));
      for (size_t piece = 0; piece < parts.size(); ++piece)
        EXPECT_EQ(opened[piece], parts[piece] > 0 ? 1 : 0);
    }
}

TEST_F(OrderedPieces, AnErrorOfAnyStepEndsAll) {
  for (const int num_threads : {1, 4, 16})
    for (const int step : {0, 1, 2})
      for (const int64_t where : {0, 1, 7, 19}) {
        set_threads(num_threads);
        const auto fail = [&](int now, int64_t piece) {
          if (now == step && piece == where) throw InvalidArgumentError("test");
        };
        std::vector<int64_t> sent;
        const std::vector<int64_t> parts(20, 3);
        EXPECT_THROW(make_in_order(parts, 2,
                                   {.open = [&](int64_t piece) { fail(0, piece); },
                                    .make = [&](int64_t piece, int64_t) { fail(1, piece); },
                                    .send =
                                        [&](int64_t piece) {
                                          fail(2, piece);
                                          sent.push_back(piece);
                                        }}),
                     InvalidArgumentError);
        std::vector<int64_t> expected(sent.size());
        std::iota(expected.begin(), expected.end(), 0);
        EXPECT_EQ(sent, expected);
        EXPECT_LE(std::ssize(sent), where);
      }
}

}  // namespace
}  // namespace hr::parquet
