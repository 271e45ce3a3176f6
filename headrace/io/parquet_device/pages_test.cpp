// SPDX-License-Identifier: Apache-2.0
// What blocks of threads do to pages, run by the host: the values, nulls and refusals of the host's
// reader, whatever the bytes.
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/base/utf8.h"
#include "headrace/data/column_testing.h"
#include "headrace/io/parquet/delta.h"
#include "headrace/io/parquet/hybrid.h"
#include "headrace/io/parquet/parquet_testing.h"
#include "headrace/io/parquet/refusal.h"
#include "headrace/io/parquet/snappy.h"
#include "headrace/io/parquet/write.h"
#include "headrace/io/parquet_device/page_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <random>

namespace hr::parquet {
namespace {

using hr::testing::column_of;

// Memory whose ends sanitizers know.
template <class T>
std::vector<T> zeros(int64_t count) {
  return std::vector<T>(static_cast<size_t>(count));
}

struct Phases {
  std::vector<std::optional<Column>> columns{};
  std::vector<std::string> reasons{};
  std::vector<bool> has_differences{};  // some pages of the column
};

Buffer buffer_of(const void* bytes, int64_t size) {
  Buffer made = Buffer::allocate(size);
  if (size > 0) std::memcpy(made.mutable_data(), bytes, static_cast<size_t>(size));
  return made;
}

void run(const HostBlock& block, const PageBatch& batch) {
  auto snappy = std::make_unique<SnappyWindow>();
  auto zstd = std::make_unique<ZstdWindow>();
  auto window = std::make_unique<PageWindow>();
  const auto each_page = [&](const auto& f) {
    for (int64_t p = 0; p < batch.num_pages; ++p)
      if (!is_refused(batch.chunks[batch.pages[p].chunk])) f(batch.pages[p], batch.values[p]);
  };
  each_page([&](const DevicePage& page, PageValues&) {
    if (page.packing == PagePacking::kZstd) unpack_zstd_page(block, *zstd, batch, page);
    unpack_page(block, *snappy, batch, page);
  });
  each_page([&](const DevicePage& page, PageValues&) {
    if (page.is_dictionary) read_dictionary(block, *window, batch, page);
  });
  each_page([&](const DevicePage& page, PageValues& values) {
    if (page.is_dictionary) return;
    const DeviceChunk& chunk = batch.chunks[page.chunk];
    if (begin_page(block, *window, batch, page, values))
      *chunk.nulls += page.num_values - values.count;
    else
      *chunk.refused = 1;
  });
  each_page([&](const DevicePage& page, PageValues& values) {
    if (page.is_dictionary) return;
    const DeviceChunk& chunk = batch.chunks[page.chunk];
    for (uint32_t slot = 0; slot < page.num_values; ++slot) {
      const PageRow made = read_row(batch, page, values, slot);
      if (!made.fits) *chunk.refused = 1;
      const int64_t row = page.first_row + slot;
      const uint32_t bit = 1u << row % 32;
      if (chunk.validity && made.is_valid) chunk.validity[row / 32] |= bit;
      if (chunk.width > 0)
        store_value(chunk.values + row * chunk.width, chunk.width, made.value);
      else if (made.value.low != 0)
        reinterpret_cast<uint32_t*>(chunk.values)[row / 32] |= bit;
    }
  });
}

// The flat columns of a file, in small batches.
Phases by_phases(const std::string& file, bool is_reversed = false, int64_t batch_bytes = 1 << 12) {
  const auto source = testing::source_of(file).open("test", Compression::kNone);
  source->load(std::ssize(file));
  uint32_t size;
  std::memcpy(&size, file.data() + file.size() - 8, 4);
  const std::string footer = file.substr(file.size() - 8 - size, size);
  const FileMetadata metadata = parse_file_metadata(footer);
  const std::vector<ColumnSchema> schema = read_schema(metadata);
  Phases made{std::vector<std::optional<Column>>(schema.size()),
              std::vector<std::string>(schema.size()), std::vector<bool>(schema.size())};
  std::vector<ChunkSource> chunks;
  int64_t rows = 0;
  for (size_t g = 0; g < metadata.row_groups.size(); ++g) {
    const RowGroupMetadata& group = metadata.row_groups[g];
    for (size_t c = 0; c < schema.size(); ++c) {
      if (schema[c].dtype.is_nested() || !schema[c].refusal.empty()) continue;
      chunks.push_back({source, &schema[c].leaf,
                        &group.chunks[static_cast<size_t>(schema[c].leaf.index)], c, g, rows,
                        group.num_rows});
    }
    rows += group.num_rows;
  }
  std::vector<ChunkPlan> plans;
  for (const ChunkSource& chunk : chunks) {
    std::string& reason = made.reasons[chunk.column];
    if (reason.empty()) reason = why_not_on_device(*chunk.leaf);
    plans.push_back(plan_chunk(chunk));
    if (reason.empty()) reason = plans.back().refusal;
  }
  std::vector<std::vector<std::byte>> values(schema.size());
  std::vector<std::vector<uint32_t>> validity(schema.size());
  std::vector<std::vector<uint8_t>> text(2 * chunks.size());
  std::vector<std::vector<uint64_t>> dictionaries(chunks.size());
  std::vector<unsigned long long> nulls(schema.size());
  std::vector<uint32_t> refused(chunks.size());
  std::vector<DeviceChunk> there;
  for (size_t k = 0; k < chunks.size(); ++k) {
    const size_t c = chunks[k].column;
    if (!made.reasons[c].empty()) plans[k].refusal = "of its column";
    DeviceChunk& chunk = there.emplace_back(device_chunk(chunks[k], plans[k]));
    if (!plans[k].refusal.empty()) continue;
    values[c].resize(
        static_cast<size_t>(chunk.width > 0 ? rows * chunk.width : (rows + 31) / 32 * 4));
    if (schema[c].leaf.max_definition > 0)
      validity[c].resize(static_cast<size_t>((rows + 31) / 32));
    dictionaries[k].resize((chunk.dictionary_size * size_t{chunk.width} + 7) / 8);
    text[2 * k].resize(static_cast<size_t>(plans[k].dictionary_bytes + kReadSlack));
    text[2 * k + 1].resize(static_cast<size_t>(plans[k].text_bytes + kReadSlack));
    chunk.values = values[c].data();
    chunk.validity = validity[c].empty() ? nullptr : validity[c].data();
    chunk.dictionary = reinterpret_cast<std::byte*>(dictionaries[k].data());
    chunk.dictionary_text = text[2 * k].data();
    chunk.text = text[2 * k + 1].data();
    chunk.nulls = &nulls[c];
    chunk.refused = &refused[k];
  }
  const PagePlan plan = plan_pages(chunks, plans, 1 << 10, batch_bytes);
  bool has_data = false;
  for (const BatchPlan& batch : plan.batches) {
    for (const DevicePage& page : batch.pages) {
      if (page.form == PageForm::kDelta) made.has_differences[chunks[page.chunk].column] = true;
      EXPECT_FALSE(page.is_dictionary && has_data);  // rows need what dictionaries hold
      has_data |= !page.is_dictionary;
    }
    auto room = zeros<char>(batch.room_bytes);
    UnpackRoom unpacker;
    for (const PageRead& read : batch.reads) {
      EXPECT_LE(read.to % static_cast<uint64_t>(plan.piece_bytes) +
                    static_cast<uint64_t>(read.unpack ? 0 : read.bytes),
                static_cast<uint64_t>(plan.piece_bytes));
      try {
        read_page_bytes(read, room.data() + read.to, &unpacker);
      } catch (const Refusal&) {
        made.reasons[read.chunk->column] = "a page cannot be unpacked";
      }
    }
    auto unpacked = zeros<uint8_t>(batch.unpacked_bytes);
    auto words = zeros<uint32_t>(batch.words);
    auto found = zeros<PageValues>(std::ssize(batch.pages));
    run({is_reversed}, {.pages = batch.pages.data(),
                        .num_pages = std::ssize(batch.pages),
                        .values = found.data(),
                        .chunks = there.data(),
                        .packed = reinterpret_cast<const uint8_t*>(room.data()),
                        .unpacked = unpacked.data(),
                        .words = words.data()});
  }
  for (size_t k = 0; k < chunks.size(); ++k)
    if (refused[k] != 0) made.reasons[chunks[k].column] = "refused";
  for (size_t c = 0; c < schema.size(); ++c) {
    if (!made.reasons[c].empty() || schema[c].dtype.is_nested()) continue;
    const Dtype dtype = schema[c].dtype;
    const auto missing = static_cast<int64_t>(nulls[c]);
    Buffer bytes = buffer_of(values[c].data(), std::ssize(values[c]));
    Buffer valid =
        missing > 0 ? buffer_of(validity[c].data(), 4 * std::ssize(validity[c])) : Buffer();
    if (!dtype.is_string()) {
      made.columns[c] = Column(dtype, rows, std::move(bytes), std::move(valid), missing);
      continue;
    }
    std::vector<Buffer> texts(2 * metadata.row_groups.size());
    for (size_t k = 0; k < chunks.size(); ++k)
      if (chunks[k].column == c)
        for (size_t i = 0; i < 2; ++i)
          texts[2 * chunks[k].group + i] =
              buffer_of(text[2 * k + i].data(), std::ssize(text[2 * k + i]));
    made.columns[c] =
        Column::strings(rows, std::move(bytes), std::move(texts), std::move(valid), missing);
  }
  return made;
}

std::string cell(const Column& column, int64_t row) {
  if (column.is_null(row)) return "null";
  if (column.dtype().is_nested()) return "nested";
  if (column.dtype().has_text()) return std::string(column.string(row));
  if (column.dtype().is_bool()) return column.bit(row) ? "1" : "0";
  const auto size = static_cast<size_t>(column.dtype().size_bytes());
  return {reinterpret_cast<const char*>(column.values_buffer().data()) +
              static_cast<size_t>(column.offset() + row) * size,
          size};
}

void expect_same(const Column& made, const Column& host, const std::string& name) {
  ASSERT_EQ(made.num_rows(), host.num_rows()) << name;
  ASSERT_EQ(made.null_count(), host.null_count()) << name;
  for (int64_t row = 0; row < made.num_rows(); ++row)
    ASSERT_EQ(cell(made, row), cell(host, row)) << name << " " << row;
}

std::string written(const Table& table, const ParquetWriteOptions& options) {
  std::string bytes;
  write_parquet(table, [&](std::string_view piece) { bytes += piece; }, options);
  return bytes;
}

template <class T>
Column numbers(int64_t rows, uint64_t range, bool with_nulls, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<size_t>(rows));
  std::vector<bool> valid(values.size(), true);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<T>(range > 0 ? random() % range : random());
    valid[i] = !with_nulls || random() % 3 > 0;
    if (!valid[i]) values[i] = {};
  }
  return column_of<T>(values, valid);
}

Buffer bitmap_of(const std::vector<bool>& bits) {
  Buffer made = Buffer::allocate_zeroed(bitmap_bytes(std::ssize(bits)) + 8);
  for (size_t i = 0; i < bits.size(); ++i)
    set_bit(made.mutable_as<uint8_t>(), static_cast<int64_t>(i), bits[i]);
  return made;
}

int64_t nulls_of(const std::vector<bool>& valid) {
  return std::count(valid.begin(), valid.end(), false);
}

Column bools(const std::vector<bool>& bits, const std::vector<bool>& valid) {
  return Column(TypeId::kBool, std::ssize(bits), bitmap_of(bits), bitmap_of(valid),
                nulls_of(valid));
}

Column strings(const std::vector<std::string>& values, const std::vector<bool>& valid) {
  std::string text;
  std::vector<StringView> views(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string& value = values[i];
    views[i].size = static_cast<uint32_t>(value.size());
    if (value.size() <= 12) {
      std::memcpy(views[i].inlined, value.data(), value.size());
      continue;
    }
    std::memcpy(views[i].indirect.prefix, value.data(), 4);
    views[i].indirect.buffer = 0;
    views[i].indirect.offset = static_cast<uint32_t>(text.size());
    text += value;
  }
  return Column::strings(std::ssize(values), buffer_of(views.data(), 16 * std::ssize(views)),
                         {buffer_of(text.data(), std::ssize(text))}, bitmap_of(valid),
                         nulls_of(valid));
}

TEST(SnappyByPhases, UnpacksWhatIsPacked) {
  std::mt19937_64 random(7);
  auto window = std::make_unique<SnappyWindow>();
  for (const uint32_t size : {0u, 1u, 5u, 63u, 4095u, 4096u, 4097u, 20'000u, 200'000u})
    for (int kind = 0; kind < 6; ++kind) {
      std::string bytes(size, '\0');
      for (size_t i = 0; i < size; ++i)
        bytes[i] = kind == 0   ? static_cast<char>(random())
                   : kind == 1 ? 'a'
                   : kind == 2 ? static_cast<char>(i % 8 < 3 ? random() : 0)
                   : kind == 3 ? static_cast<char>("a text of words that come again"[i % 31])
                   : kind == 4 ? static_cast<char>(random() % 64 == 0 ? random() : i % 5)
                               : (i > 5000 ? bytes[i - 4999] : static_cast<char>(random()));
      std::string packed(2 * size_t{size} + 64, '\0');
      const auto packed_size = static_cast<uint32_t>(pack_snappy(bytes, packed.data()));
      for (const bool is_reversed : {false, true}) {
        std::vector<uint8_t> out(size + 1, 99);
        ASSERT_TRUE(unpack_snappy(HostBlock{is_reversed}, *window,
                                  reinterpret_cast<const uint8_t*>(packed.data()), packed_size,
                                  out.data(), size))
            << size << " " << kind;
        ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), out.begin(),
                               [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; }))
            << size << " " << kind;
        ASSERT_EQ(out[size], 99);
      }
    }
}

TEST(SnappyByPhases, TakesAndRefusesWhatTheHostDoes) {
  std::mt19937_64 random(8);
  auto window = std::make_unique<SnappyWindow>();
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 300, 'x');
    for (char& c : bytes) c = static_cast<char>(random() % 3);
    std::string packed(1000, '\0');
    packed.resize(static_cast<size_t>(pack_snappy(bytes, packed.data())));
    for (uint64_t flips = random() % 4; flips > 0; --flips)
      packed[random() % packed.size()] = static_cast<char>(random());
    if (random() % 4 == 0) packed.resize(random() % (packed.size() + 1));
    const auto size = static_cast<uint32_t>(bytes.size() + (random() % 10 == 0));
    std::vector<char> host(size + kUnpackSlack);
    std::vector<uint8_t> out(size + 1, 99), from(packed.begin(), packed.end());
    from.resize(from.size() + kReadSlack);
    const bool is_right = unpack_snappy(packed, host.data(), size);
    ASSERT_EQ(unpack_snappy(HostBlock{round % 2 == 0}, *window, from.data(),
                            static_cast<uint32_t>(packed.size()), out.data(), size),
              is_right)
        << round;
    ASSERT_EQ(out[size], 99);
    refused += !is_right;
    ASSERT_TRUE(!is_right ||
                std::equal(out.begin(), out.end() - 1, host.begin(),
                           [](uint8_t a, char b) { return a == static_cast<uint8_t>(b); }));
  }
  EXPECT_GT(refused, 1000);
}

// Bytes of several kinds: random, alike, of few values, and numbers whose high bytes are alike.
std::string some_bytes(std::mt19937_64& random, size_t size) {
  std::string bytes(size, '\0');
  const auto kind = random() % 8;
  for (size_t i = 0; i < size; ++i) {
    const auto any = static_cast<char>(random());
    bytes[i] = kind == 0   ? any
               : kind == 1 ? 'a'
               : kind == 2 ? static_cast<char>(i % 8 < 3 ? any : 0)
               : kind == 3 ? static_cast<char>("a text of words that come again"[i % 31])
               : kind == 4 ? static_cast<char>(random() % 64 == 0 ? any : i % 5)
               : kind == 5 ? (i > 5000 ? bytes[i - 4999] : any)
               : kind == 6 ? static_cast<char>(3 * std::countr_zero(random() | 1u << 20))
                           : static_cast<char>(i % 8 < 6 ? any : 60 + random() % 30);
  }
  return bytes;
}

TEST(ZstdByPhases, TakesAndRefusesWhatTheHostDoes) {
  if (!can_pack(Codec::kZstd)) GTEST_SKIP() << "a build without zstd";
  std::mt19937_64 random(12);
  auto window = std::make_unique<ZstdWindow>();
  PageUnpacker unpacker(Codec::kZstd);
  int refused = 0, taken = 0;
  for (int round = 0; round < 1'500; ++round) {
    const std::string bytes = some_bytes(random, random() % (round % 50 == 0  ? 1'200'000
                                                             : round % 3 == 0 ? 99'000
                                                                              : 999));
    constexpr int kLevels[] = {1, 1, 3, 9, 19};
    PagePacker packer(Codec::kZstd, round % 50 == 0 ? 1 : kLevels[random() % 5]);
    std::string packed(static_cast<size_t>(packer.most(std::ssize(bytes))), '\0');
    packed.resize(static_cast<size_t>(packer.pack(bytes, packed.data())));
    const bool is_whole = round % 2 == 0;
    for (uint64_t flips = is_whole ? 0 : 1 + random() % 3; flips > 0; --flips)
      packed[random() % std::min(packed.size(), random() % 2 == 0 ? 60 : packed.size())] ^=
          static_cast<char>(1 << random() % 8);
    if (!is_whole && random() % 10 == 0) packed.resize(random() % (packed.size() + 1));
    const auto size = static_cast<uint32_t>(bytes.size());
    std::vector<char> host(size + kUnpackSlack);
    bool is_right = true;
    try {
      unpacker.unpack(packed, host.data(), size);
    } catch (const Refusal&) {
      is_right = false;
    }
    std::vector<uint8_t> from(packed.begin(), packed.end()), out(size + 1, 99);
    from.resize(from.size() + kReadSlack);
    std::vector<uint8_t> literals(size + kReadSlack);
    std::vector<uint64_t> sequences(most_sequences(size));
    const bool is_made =
        unpack_zstd(HostBlock{round % 4 < 2}, *window,
                    {literals.data(), sequences.data(), most_sequences(size)}, from.data(),
                    static_cast<uint32_t>(packed.size()), out.data(), size);
    ASSERT_EQ(out[size], 99);
    ASSERT_TRUE(is_made || !is_whole) << round;
    ASSERT_TRUE(is_right || !is_made) << round;
    ++(is_made ? taken : refused);
    ASSERT_TRUE(!is_made ||
                std::equal(out.begin(), out.end() - 1, host.begin(),
                           [](uint8_t a, char b) { return a == static_cast<uint8_t>(b); }))
        << round;
  }
  EXPECT_GT(refused, 300);
  EXPECT_GT(taken, 800);
}

// Values for which differences take from no bits to all of them.
std::vector<int64_t> walk(std::mt19937_64& random, size_t count) {
  std::vector<int64_t> values(count);
  uint64_t value = random();
  for (size_t i = 0; i < count; ++i) {
    if (i % 32 == 0) value = random() % 4 == 0 ? random() : value;
    const int width = static_cast<int>((i / 32 * 7 + i / 128) % 65);
    value += width == 0 ? 3 : random() >> (64 - width);
    values[i] = static_cast<int64_t>(value);
  }
  return values;
}

TEST(DeltaByPhases, ReadsValuesOfAllWidths) {
  std::mt19937_64 random(9);
  auto steps = std::make_unique<DeltaSteps>();
  for (const size_t size : {0u, 1u, 2u, 32u, 33u, 128u, 129u, 130u, 8192u, 8193u, 8225u, 30'000u})
    for (const bool is_reversed : {false, true}) {
      const std::vector<int64_t> values = walk(random, size);
      const std::string packed = testing::delta_packed(values);
      std::vector<uint8_t> from(packed.begin(), packed.end());
      from.resize(from.size() + kReadSlack);
      const DeltaBytes bytes{from.data(), static_cast<uint32_t>(packed.size())};
      std::vector<int64_t> out(size + 1, 99);
      for (const size_t some : {size, size / 2}) {
        ASSERT_TRUE(read_delta(HostBlock{is_reversed}, *steps, bytes, static_cast<uint32_t>(some),
                               reinterpret_cast<uint32_t*>(out.data())));
        ASSERT_TRUE(
            std::equal(values.begin(), values.begin() + static_cast<int64_t>(some), out.begin()))
            << size;
      }
      ASSERT_EQ(out[size], 99);
      ASSERT_FALSE(read_delta(HostBlock{is_reversed}, *steps, bytes,
                              static_cast<uint32_t>(size + 1),
                              reinterpret_cast<uint32_t*>(out.data())));
    }
}

TEST(DeltaByPhases, TakesAndRefusesWhatTheHostDoes) {
  std::mt19937_64 random(10);
  auto steps = std::make_unique<DeltaSteps>();
  int refused = 0, taken = 0;
  for (int round = 0; round < 5'000; ++round) {
    const std::vector<int64_t> values =
        walk(random, 1 + random() % (random() % 8 == 0 ? 9000 : 300));
    std::string packed = testing::delta_packed(values);
    for (uint64_t flips = random() % 4; flips > 0; --flips)
      packed[random() % (random() % 2 == 0 ? std::min<size_t>(packed.size(), 30) : packed.size())] =
          static_cast<char>(random() % 2 == 0 ? random() : random() % 70);
    if (random() % 4 == 0) packed.resize(random() % (packed.size() + 1));
    const size_t size = values.size() - random() % 2;
    std::vector<int64_t> host(size), out(size + 1, 99);
    bool is_right = true;
    try {
      DeltaReader(packed).read(static_cast<int64_t>(size), host.data());
    } catch (const Refusal&) {
      is_right = false;
    }
    std::vector<uint8_t> from(packed.begin(), packed.end());
    from.resize(from.size() + kReadSlack);
    ASSERT_EQ(read_delta(HostBlock{round % 2 == 0}, *steps,
                         {from.data(), static_cast<uint32_t>(packed.size())},
                         static_cast<uint32_t>(size), reinterpret_cast<uint32_t*>(out.data())),
              is_right)
        << round;
    ASSERT_EQ(out[size], 99);
    ASSERT_TRUE(!is_right || std::equal(host.begin(), host.end(), out.begin())) << round;
    ++(is_right ? taken : refused);
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(taken, 500);
}

// Stretches of packed runs that begin alike, with other runs among them.
std::string runs_of(std::mt19937_64& random, int width, size_t& count) {
  const uint64_t mask = (uint64_t{1} << width) - 1;
  std::string bytes;
  for (uint64_t stretch = 1 + random() % 6; stretch > 0; --stretch) {
    const size_t size = 8 * (1 + random() % (random() % 4 == 0 ? 100 : 3));
    for (uint64_t run = random() % (random() % 3 == 0 ? 700 : 9); run > 0; --run) {
      std::vector<uint64_t> values(size);
      for (uint64_t& value : values) value = random() & mask;
      bytes += testing::packed_run(values, width);
      count += size;
    }
    for (uint64_t run = random() % 3; run > 0; --run) {
      const size_t times = random() % 20;
      bytes += testing::repeated_run(times, static_cast<uint32_t>(random() & mask), width);
      count += times;
    }
  }
  return bytes;
}

TEST(HybridByPhases, TakesAndRefusesWhatTheHostDoes) {
  std::mt19937_64 random(11);
  auto runs = std::make_unique<HybridRuns>();
  int refused = 0, taken = 0;
  for (int round = 0; round < 400; ++round) {
    const auto width = static_cast<int>(random() % 33);
    size_t all = 0;
    std::string packed = runs_of(random, width, all);
    if (round % 2 == 0 && !packed.empty()) {
      for (uint64_t flips = random() % 4; flips > 0; --flips)
        packed[random() % packed.size()] = static_cast<char>(random());
      if (random() % 4 == 0) packed.resize(random() % (packed.size() + 1));
    }
    const auto size = static_cast<uint32_t>(random() % 3 == 0 ? all + random() % 2 : all / 2);
    std::vector<uint32_t> host(size), out(size + 1, 99), words(size / 32 + 2, 99);
    bool is_right = true;
    try {
      HybridReader(packed, width).read(size, host.data());
    } catch (const Refusal&) {
      is_right = false;
    }
    std::vector<uint8_t> from(packed.begin(), packed.end());
    from.resize(from.size() + kReadSlack);
    const HybridBytes bytes{from.data(), static_cast<uint32_t>(packed.size()),
                            static_cast<uint32_t>(width)};
    const HostBlock block{round % 4 < 2};
    const uint32_t most =
        size > 0 && is_right ? *std::max_element(host.begin(), host.end()) : ~uint32_t{0} - 1;
    const bool is_read = read_integers(block, *runs, bytes, size, most + (most != ~0u), out.data());
    ASSERT_EQ(out[size], 99);
    ++(is_right ? taken : refused);
    if (most == ~0u) continue;
    ASSERT_EQ(is_read, is_right) << round;
    if (!is_right) continue;
    ASSERT_TRUE(std::equal(host.begin(), host.end(), out.begin())) << round;
    if (size > 0 && most > 0) {
      ASSERT_FALSE(read_integers(block, *runs, bytes, size, most, out.data()));
    }
    if (width != 1) continue;
    ASSERT_TRUE(read_bits(block, *runs, bytes, size, words.data()));
    for (uint32_t i = 0; i < size; ++i) ASSERT_EQ(words[i / 32] >> i % 32 & 1, host[i]) << round;
  }
  EXPECT_GT(refused, 20);
  EXPECT_GT(taken, 200);
}

TEST(PagesByPhases, TextIsUtf8AsOnTheHost) {
  for (uint32_t first = 0; first < 256; ++first)
    for (uint32_t second = 0; second < 256; ++second)
      for (const uint32_t rest : {0x41u, 0x80u, 0xBFu, 0xC2u})
        for (size_t size = 1; size <= 4; ++size) {
          const char text[4] = {static_cast<char>(first), static_cast<char>(second),
                                static_cast<char>(rest), static_cast<char>(rest)};
          ASSERT_EQ(is_utf8(reinterpret_cast<const uint8_t*>(text), static_cast<uint32_t>(size)),
                    is_valid_utf8({text, size}));
        }
}

Table table_of(int64_t rows, bool with_nulls) {
  std::mt19937_64 random(3);
  std::vector<bool> bits(static_cast<size_t>(rows)), valid(bits.size());
  std::vector<std::string> few, many, unlike;
  for (size_t i = 0; i < bits.size(); ++i) {
    bits[i] = random() % 3 == 0;
    valid[i] = !with_nulls || random() % 4 > 0;
    few.push_back("a key of some length " + std::to_string(random() % 50));
    many.push_back("n\xC3\xA4" + std::to_string(random()));
    unlike.emplace_back(random() % (i % 1000 == 0 ? 9000 : 20), 'q');
  }
  std::vector<int64_t> rising(bits.size());
  std::vector<int32_t> falling(bits.size());
  for (size_t i = 0; i < bits.size(); ++i) {
    rising[i] = valid[i] ? static_cast<int64_t>(1000 * i + random() % 900) : 0;
    falling[i] = valid[i] ? static_cast<int32_t>(1'000'000 - 7 * i) : 0;
  }
  return Table({"i64", "few", "i8", "u16", "f32", "f64", "b", "s", "t", "v", "run", "up", "down"},
               {numbers<int64_t>(rows, 0, with_nulls), numbers<int64_t>(rows, 100, with_nulls, 2),
                numbers<int8_t>(rows, 0, with_nulls, 3), numbers<uint16_t>(rows, 0, with_nulls, 4),
                numbers<float>(rows, 1000, with_nulls, 5), numbers<double>(rows, 0, with_nulls, 6),
                bools(bits, valid), strings(few, valid), strings(many, valid),
                strings(unlike, valid), numbers<int32_t>(rows, 1, with_nulls, 7),
                column_of<int64_t>(rising, valid), column_of<int32_t>(falling, valid)});
}

TEST(PagesByPhases, HaveTheValuesOfTheHost) {
  for (const char* codec : {"none", "snappy", "zstd"})
    for (const bool with_nulls : {false, true})
      for (const int64_t rows : {0, 1, 31, 1000, 70'000}) {
        const std::string file =
            written(table_of(rows, with_nulls), {.compression = codec, .row_group_rows = 30'011});
        const Table host = testing::read_file(file);
        for (const bool is_reversed : {false, true}) {
          const Phases made = by_phases(file, is_reversed, is_reversed ? 1 << 20 : 1 << 13);
          for (size_t c = 0; c < made.columns.size(); ++c) {
            EXPECT_EQ(made.reasons[c].find("refused"), std::string::npos) << host.names()[c];
            if (made.columns[c])
              expect_same(*made.columns[c], host.columns()[c], host.names()[c]);
            else
              EXPECT_NE(made.reasons[c], "") << host.names()[c];
            const bool is_steady = host.names()[c] == "up" || host.names()[c] == "down";
            if (is_steady && rows > 31) {
              EXPECT_TRUE(made.columns[c] && made.has_differences[c]) << host.names()[c];
            }
          }
        }
      }
}

// Each byte of the pages of a small file, in several ways: what the phases take has the values of
// the host, and what the host refuses they refuse.
TEST(PagesByPhases, DamagedFilesAreLeftToTheHost) {
  for (const char* codec : {"none", "snappy", "zstd"}) {
    if (codec == std::string("zstd") && !can_pack(Codec::kZstd)) continue;
    const std::string file = written(table_of(40, true), {.compression = codec});
    int64_t taken = 0, left = 0;
    uint32_t footer;
    std::memcpy(&footer, file.data() + file.size() - 8, 4);
    const size_t step = codec == std::string("zstd") ? 8 : 1;
    for (size_t at = 4; at < file.size() - 8 - footer; at += step)
      for (const int flip : {1, 64, 255}) {
        std::string damaged = file;
        damaged[at] = static_cast<char>(damaged[at] ^ flip);
        const Phases made = by_phases(damaged, flip == 64);
        std::optional<Table> host;
        try {
          host = testing::read_file(damaged);
        } catch (const Error&) {
        }
        if (!host) {
          EXPECT_NE(std::ranges::count_if(made.columns, [](const auto& c) { return !c; }), 0)
              << codec << " " << at << " " << flip;
          ++left;
          continue;
        }
        for (size_t c = 0; c < made.columns.size(); ++c)
          if (made.columns[c]) {
            expect_same(*made.columns[c], host->columns()[c], host->names()[c]);
            ++taken;
          }
      }
    EXPECT_GT(taken, 1000);
    EXPECT_GT(left, 20);
  }
}

}  // namespace
}  // namespace hr::parquet
