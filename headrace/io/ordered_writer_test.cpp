// SPDX-License-Identifier: Apache-2.0
// Pieces in order: the bytes for any number of threads, faults of makers and of the disk.
#include "headrace/io/ordered_writer.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace hr {
namespace {

namespace fs = std::filesystem;
using std::chrono::microseconds;

class OrderedWriter : public ::testing::TestWithParam<int> {
 protected:
  OrderedWriter() { set_threads(GetParam()); }
  ~OrderedWriter() override {
    set_threads(before_);
    fs::remove_all(folder_);
  }

  std::string path() const { return folder_ / "file"; }

  std::string file() const {
    std::ostringstream text;
    text << std::ifstream(path(), std::ios::binary).rdbuf();
    return text.str();
  }

  fs::path folder_ = [] {
    std::string name = fs::temp_directory_path() / "headrace-XXXXXX";
    return fs::path(::mkdtemp(name.data()));
  }();

 private:
  int before_ = threads();
};

// Of no two pieces the same, some empty.
std::string piece_text(int64_t piece) {
  return std::string(static_cast<size_t>(piece * 7 % 50), static_cast<char>('a' + piece % 26));
}

struct Texts {
  explicit Texts(int64_t slots) : all(static_cast<size_t>(slots)) {}

  std::string_view make(int64_t piece, int64_t slot) {
    std::string& text = all[static_cast<size_t>(slot)];
    text = piece_text(piece);
    // Pieces end out of order.
    if (piece % 5 == 0) std::this_thread::sleep_for(microseconds(piece * 37 % 300));
    return text;
  }

  std::vector<std::string> all;
};

TEST_P(OrderedWriter, WritesPiecesInOrder) {
  for (const int64_t slots : {int64_t{1}, int64_t{3}, num_piece_slots()})
    for (const int64_t count : {0, 1, 2, 7, 200}) {
      std::string wanted = "begin ";
      for (int64_t piece = 0; piece < count; ++piece) wanted += piece_text(piece);
      Texts texts(slots);
      const auto make = [&](int64_t piece, int64_t slot) { return texts.make(piece, slot); };
      Sink sink("test", path(), false);
      sink.append("begin ");
      write_in_order(sink, count, slots, make);
      sink.append(" end");
      sink.commit();
      EXPECT_EQ(file(), wanted + " end") << slots << " slots, " << count << " pieces";

      std::string text = "begin ";
      write_in_order([&](std::string_view bytes) { text += bytes; }, count, slots, make);
      EXPECT_EQ(text, wanted);
    }
}

TEST_P(OrderedWriter, MakesNoMoreThanTheSlotsHold) {
  constexpr int64_t kSlots = 3;
  std::atomic<int64_t> last{-1};
  Texts texts(kSlots);
  Sink sink("test", path(), false);
  write_in_order(sink, 60, kSlots, [&](int64_t piece, int64_t slot) {
    EXPECT_EQ(slot, piece % kSlots);
    // This one is not written yet, so those from `kSlots` behind it on have no slot.
    int64_t seen = last;
    while (seen < piece && !last.compare_exchange_weak(seen, piece)) {
    }
    EXPECT_LT(last - piece, kSlots);
    return texts.make(piece, slot);
  });
}

TEST_P(OrderedWriter, MakersMayWorkInParallel) {
  std::vector<std::string> texts(static_cast<size_t>(num_piece_slots()));
  Sink sink("test", path(), false);
  write_in_order(sink, 40, num_piece_slots(), [&](int64_t piece, int64_t slot) -> std::string_view {
    std::atomic<int64_t> sum{0};
    parallel_for(50, [&](int64_t k) { sum += k; });
    return texts[static_cast<size_t>(slot)] = std::to_string(sum + piece) + "\n";
  });
  sink.commit();
  std::string wanted;
  for (int64_t piece = 0; piece < 40; ++piece) wanted += std::to_string(1225 + piece) + "\n";
  EXPECT_EQ(file(), wanted);
}

TEST_P(OrderedWriter, WritesAPieceWhileTheNextIsMade) {
  if (GetParam() == 1) return;
  const auto size_of_part = [&] {
    for (const fs::directory_entry& each : fs::directory_iterator(folder_)) return each.file_size();
    return uintmax_t{0};
  };
  Sink sink("test", path(), false);
  write_in_order(sink, 2, num_piece_slots(), [&](int64_t piece, int64_t) -> std::string_view {
    if (piece == 0) return "first";
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (size_of_part() < 5 && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(microseconds(100));
    EXPECT_EQ(size_of_part(), 5u);
    return "second";
  });
  sink.commit();
  EXPECT_EQ(file(), "firstsecond");
}

TEST_P(OrderedWriter, AFailingMakerEndsAll) {
  for (const int64_t bad : {0, 1, 5, 39}) {
    Texts texts(num_piece_slots());
    {
      Sink sink("test", path(), false);
      const auto make = [&](int64_t piece, int64_t slot) {
        if (piece == bad) throw std::runtime_error("bad piece");
        return texts.make(piece, slot);
      };
      EXPECT_THROW(write_in_order(sink, 40, num_piece_slots(), make), std::runtime_error);
    }
    EXPECT_TRUE(fs::is_empty(folder_));
  }
}

TEST_P(OrderedWriter, AFullDiskEndsAll) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit all{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &all), 0);
  for (const rlim_t room : {rlim_t{0}, rlim_t{1}, rlim_t{100}, rlim_t{900}}) {
    const struct rlimit small{room, all.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    Texts texts(num_piece_slots());
    {
      Sink sink("test", path(), false);
      const auto make = [&](int64_t piece, int64_t slot) { return texts.make(piece, slot); };
      try {
        write_in_order(sink, 100, num_piece_slots(), make);
        ADD_FAILURE();
      } catch (const InputError& error) {
        EXPECT_EQ(error.code, EFBIG);
      }
    }
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &all), 0);
    EXPECT_TRUE(fs::is_empty(folder_));
  }
  std::signal(SIGXFSZ, before);
}

INSTANTIATE_TEST_SUITE_P(Threads, OrderedWriter, ::testing::Values(1, 2, 4, 16));

}  // namespace
}  // namespace hr
