// SPDX-License-Identifier: Apache-2.0
// Rounds of a team: every row once, in order of rounds, errors and nesting.
#include "headrace/exec/team.h"

#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace hr {

namespace {

class TeamTest : public testing::ThreadsTest {};

INSTANTIATE_TEST_SUITE_P(Threads, TeamTest, ::testing::Values(1, 2, 4, 16));

// Lists of changing lengths; plain counters, which the end of a round publishes.
void run_rounds(int rounds) {
  with_team([&](Team& team) {
    const auto members = static_cast<size_t>(team.members());
    std::vector<std::vector<int>> ran(members);
    std::vector<int64_t> rows(members);
    for (int round = 0; round < rounds; ++round) {
      for (size_t i = 0; i < members; ++i) {
        rows[i] = (round * 37 + static_cast<int64_t>(i) * 101) % 300;
        ran[i].assign(static_cast<size_t>(rows[i]), 0);
      }
      team.round(rows, 16, [&](int, int list, Morsel piece) {
        for (int64_t row = piece.begin; row < piece.end; ++row)
          ran[static_cast<size_t>(list)][static_cast<size_t>(row)] += round + 1;
      });
      for (const std::vector<int>& list : ran)
        for (const int times : list) ASSERT_EQ(times, round + 1);
    }
  });
}

TEST_P(TeamTest, RoundsRunEveryRowOnce) {
  run_rounds(2000);
}

TEST_P(TeamTest, MembersWorkOnOnePieceAtATime) {
  with_team([](Team& team) {
    std::vector<int64_t> sums(static_cast<size_t>(team.members()));
    const std::vector<int64_t> rows(sums.size(), 1000);
    for (int round = 0; round < 200; ++round)
      team.round(rows, 8, [&](int member, int, Morsel piece) {
        sums[static_cast<size_t>(member)] += piece.end - piece.begin;
      });
    int64_t all = 0;
    for (const int64_t sum : sums) all += sum;
    EXPECT_EQ(all, 200'000 * static_cast<int64_t>(sums.size()));
  });
}

TEST_P(TeamTest, AnErrorEndsItsRoundAndIsThrown) {
  int rounds = 0;
  const auto run = [&] {
    with_team([&](Team& team) {
      const std::vector<int64_t> rows(static_cast<size_t>(team.members()), 100);
      for (;; ++rounds)
        team.round(rows, 1, [&](int, int, Morsel piece) {
          if (rounds == 5 && piece.begin == 50) throw std::runtime_error("fifty");
        });
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_EQ(rounds, 5);
}

TEST_P(TeamTest, TeamsInsideOfJobs) {
  parallel_for(6, [](int64_t) { run_rounds(50); });
}

}  // namespace

}  // namespace hr
