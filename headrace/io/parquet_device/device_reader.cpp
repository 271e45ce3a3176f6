// SPDX-License-Identifier: Apache-2.0
// Sends pages to the device through pinned blocks, decodes them there, and makes columns of what
// kernels wrote.
#include "headrace/io/parquet_device/device_reader.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/data/device.h"
#include "headrace/data/device_copy.h"
#include "headrace/exec/workers.h"
#include "headrace/io/parquet/refusal.h"
#include "headrace/io/parquet_device/device_reader_kernels.h"
#include "headrace/io/parquet_device/ordered_pieces.h"
#include "headrace/memory/device/by_device.h"
#include "headrace/memory/device/cuda_device.h"
#include "headrace/memory/log/ledger.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

namespace hr::parquet {

namespace {

constexpr int64_t kPieceBytes = int64_t{8} << 20;
constexpr int64_t kPinnedBytes = int64_t{128} << 20;
constexpr int64_t kBatchBytes = int64_t{32} << 20;
constexpr int64_t kRooms = 6;

template <class T>
int64_t bytes_of(const std::vector<T>& values) {
  return static_cast<int64_t>(values.size() * sizeof(T));
}

int64_t aligned(int64_t bytes) {
  return divide_up(bytes, 256) * 256;
}

struct DeviceColumns {
  std::vector<std::optional<Column>> columns{};  // nothing: the host has to read it,
  std::vector<std::string> reasons{};            // for this reason
  bool is_unpacked_here = false;                 // pages that the device cannot unpack
};

// What a batch alone writes is not kept until the call ends.
template <class T>
T* scratch_as(const Buffer& buffer) {
  return const_cast<T*>(buffer.as<T>());
}

// Where one batch at a time is decoded.
struct Room {
  void* stream = nullptr;
  const std::byte* packed = nullptr;
  uint8_t* unpacked = nullptr;
  uint32_t* words = nullptr;
};

// Their work ends with them, also where a call fails.
class Rooms {
 public:
  Rooms(const DeviceCall& call, std::string_view op, Place place, const PagePlan& plan) : op_(op) {
    int64_t unpacked = 0, words = 0;
    for (const BatchPlan& batch : plan.batches) {
      unpacked = std::max(unpacked, batch.unpacked_bytes);
      words = std::max(words, 4 * batch.words);
    }
    rooms_.resize(static_cast<size_t>(std::min(kRooms, std::ssize(plan.batches))));
    const std::array<void*, kRooms> streams = streams_of(place.index);
    const std::ptrdiff_t count = std::ssize(rooms_);
    const int64_t packed = aligned(plan.room_bytes), each = packed + aligned(unpacked) + words;
    memory_ = call.scratch(count * aligned(each));
    auto* at = const_cast<std::byte*>(memory_.data());
    for (std::ptrdiff_t k = 0; k < count; ++k, at += aligned(each)) {
      rooms_[static_cast<size_t>(k)] = {
          .stream = streams[static_cast<size_t>(k)],
          .packed = at,
          .unpacked = reinterpret_cast<uint8_t*>(at + packed),
          .words = reinterpret_cast<uint32_t*>(at + packed + aligned(unpacked))};
      begin_after(op, streams[static_cast<size_t>(k)], call.stream());
    }
  }

  ~Rooms() {
    for (const Room& room : rooms_) cuda_functions()->synchronize_stream(room.stream);
  }
  Rooms(const Rooms&) = delete;
  Rooms& operator=(const Rooms&) = delete;

  const Room& of(int64_t batch) const {
    return rooms_[static_cast<size_t>(batch % std::ssize(rooms_))];
  }

 private:
  std::array<void*, kRooms> streams_of(int device) {
    struct Known : ByDevice<std::array<void*, kRooms>> {};
    return process_global<Known>().get(device, [&] {
      std::array<void*, kRooms> made{};
      for (void*& stream : made)
        check_cuda(op_, cuda_functions()->make_stream(&stream, 1));  // apart from stream 0
      return made;
    });
  }

  std::string_view op_;
  Buffer memory_{};
  std::vector<Room> rooms_{};
};

// What is read together, and where it goes.
struct Piece {
  int64_t batch = 0;
  int64_t begin = 0;  // in the room
  int64_t bytes = 0;
  bool is_last = false;  // of its batch
  std::span<const PageRead> reads{};
  PinnedBlock* block = nullptr;
};

class Reader {
 public:
  Reader(Place place, std::string_view op, const std::vector<ColumnSchema>& columns,
         const std::vector<ChunkSource>& chunks, size_t num_groups, int64_t num_rows)
      : op_(op),
        place_(place),
        columns_(columns),
        chunks_(chunks),
        num_groups_(num_groups),
        num_rows_(num_rows),
        plans_(chunks.size()),
        call_(op, place) {
    made_.columns.resize(columns.size());
    made_.reasons.resize(columns.size());
  }

  DeviceColumns read() {
    plan();
    there_.resize(columns_.size());
    for (size_t c = 0; c < columns_.size(); ++c)
      if (made_.reasons[c].empty()) make_room(c);
    send();
    finish();
    return std::move(made_);
  }

 private:
  struct There {
    Buffer values{};
    Buffer validity{};
    std::vector<Buffer> text{};
  };

  // A column of which one chunk is left to the host is so as a whole.
  void plan() {
    for (size_t c = 0; c < columns_.size(); ++c)
      if (columns_[c].dtype.is_nested()) made_.reasons[c] = "lists and structs stay on the host";
    for (const ChunkSource& chunk : chunks_)
      if (std::string& reason = made_.reasons[chunk.column]; reason.empty())
        reason = why_not_on_device(*chunk.leaf);
    parallel_for(std::ssize(chunks_), [&](int64_t task) {
      const auto k = static_cast<size_t>(task);
      if (made_.reasons[chunks_[k].column].empty()) plans_[k] = plan_chunk(chunks_[k]);
    });
    for (size_t k = 0; k < chunks_.size(); ++k)
      if (std::string& reason = made_.reasons[chunks_[k].column]; reason.empty())
        reason = plans_[k].refusal;
    for (size_t k = 0; k < chunks_.size(); ++k) {
      if (!made_.reasons[chunks_[k].column].empty()) plans_[k].refusal = "of its column";
      made_.is_unpacked_here |= plans_[k].refusal.empty() && plans_[k].is_unpacked_here;
    }
  }

  Buffer bits(int64_t count) {
    Buffer made = allocate_result(divide_up(count, 64) * 8, place_);
    if (made) call_.fill(call_.writes(made), 0, made.size_bytes());
    return made;
  }

  void make_room(size_t column) {
    const Dtype dtype = columns_[column].dtype;
    There& there = there_[column];
    there.values =
        dtype.is_bool()
            ? bits(num_rows_)
            : allocate_result(checked_multiply(op_, num_rows_, dtype.size_bytes()), place_);
    if (std::ranges::any_of(chunks_, [&](const ChunkSource& chunk) {
          return chunk.column == column && chunk.leaf->max_definition > 0;
        }))
      there.validity = bits(num_rows_);
    if (dtype.is_string()) there.text.resize(2 * num_groups_);
  }

  // Bytes of strings stay; kernels may read a little behind them.
  std::byte* keep_text(Buffer& text, int64_t bytes) {
    if (bytes == 0) return nullptr;
    text = allocate_result(bytes + kReadSlack, place_);
    return call_.writes(text);
  }

  // Addresses for kernels; `state` has the numbers of nulls and then the refusals.
  std::vector<DeviceChunk> device_chunks(std::byte* state) {
    std::vector<DeviceChunk> made;
    for (size_t k = 0; k < chunks_.size(); ++k) {
      const ChunkSource& of = chunks_[k];
      const ChunkPlan& plan = plans_[k];
      DeviceChunk& chunk = made.emplace_back(device_chunk(of, plan));
      if (!plan.refusal.empty()) continue;
      There& there = there_[of.column];
      chunk.values = call_.writes(there.values);
      chunk.validity = call_.writes_as<uint32_t>(there.validity);
      chunk.nulls = reinterpret_cast<unsigned long long*>(state) + of.column;
      chunk.refused = reinterpret_cast<uint32_t*>(state + 8 * columns_.size()) + k;
      if (plan.dictionary_size > 0) {
        dictionaries_.push_back(call_.scratch(int64_t{chunk.width} * plan.dictionary_size));
        chunk.dictionary = call_.writes(dictionaries_.back());
      }
      if (!of.leaf->dtype.is_string()) continue;
      chunk.dictionary_text =
          reinterpret_cast<uint8_t*>(keep_text(there.text[2 * of.group], plan.dictionary_bytes));
      chunk.text =
          reinterpret_cast<uint8_t*>(keep_text(there.text[2 * of.group + 1], plan.text_bytes));
    }
    return made;
  }

  // Pieces of batches: the device decodes batches in rooms of their own, on streams of their own,
  // while later pieces are read and copied.
  void send() {
    const PagePlan plan = plan_pages(chunks_, plans_, kPieceBytes, kBatchBytes);
    if (plan.batches.empty()) return;
    const int64_t state_bytes =
        static_cast<int64_t>(8 * columns_.size() + sizeof(uint32_t) * chunks_.size());
    const Buffer state = call_.scratch(state_bytes);
    call_.fill(call_.writes(state), 0, state_bytes);
    const std::vector<DeviceChunk> chunks = device_chunks(call_.writes(state));
    const Buffer chunks_there = call_.table(chunks.data(), bytes_of(chunks));
    std::vector<DevicePage> pages;
    for (const BatchPlan& batch : plan.batches)
      pages.insert(pages.end(), batch.pages.begin(), batch.pages.end());
    const Buffer pages_there = call_.table(pages.data(), bytes_of(pages));
    const Buffer values = call_.scratch(static_cast<int64_t>(pages.size() * sizeof(PageValues)));
    const Rooms rooms(call_, op_, place_, plan);
    std::vector<Piece> pieces = pieces_of(plan);
    std::vector<int64_t> parts;
    for (const Piece& piece : pieces) parts.push_back(std::ssize(piece.reads));
    const int64_t most_open =
        std::min(std::clamp<int64_t>(kPinnedBytes / plan.piece_bytes, 2, 16), std::ssize(pieces));
    PinnedRing ring(op_, std::min(plan.piece_bytes, plan.room_bytes), most_open,
                    current_stream(place_));
    int64_t first_page = 0;
    make_in_order(parts, most_open,
                  {.open =
                       [&](int64_t k) {
                         const CudaScope scope(op_, place_.index);
                         pieces[static_cast<size_t>(k)].block = &ring.take(k);
                       },
                   .make =
                       [&](int64_t k, int64_t part) {
                         const Piece& piece = pieces[static_cast<size_t>(k)];
                         read_part(piece.reads[static_cast<size_t>(part)], piece);
                       },
                   .send =
                       [&](int64_t k) {
                         const CudaScope scope(op_, place_.index);
                         const Piece& piece = pieces[static_cast<size_t>(k)];
                         const Room& room = rooms.of(piece.batch);
                         if (piece.begin == 0) begin_after(op_, ring.copies(), room.stream);
                         if (piece.block) {
                           record_copy(op_, "pages to device", piece.bytes, true, host, place_);
                           ring.send(*piece.block, 0, piece.bytes, room.packed + piece.begin);
                           ring.give_when_sent(*piece.block);
                         }
                         if (!piece.is_last) return;
                         const BatchPlan& batch = plan.batches[static_cast<size_t>(piece.batch)];
                         begin_after(op_, room.stream, ring.copies());
                         decode(batch,
                                {.pages = pages_there.as<DevicePage>() + first_page,
                                 .num_pages = std::ssize(batch.pages),
                                 .values = scratch_as<PageValues>(values) + first_page,
                                 .chunks = chunks_there.as<DeviceChunk>(),
                                 .packed = reinterpret_cast<const uint8_t*>(room.packed),
                                 .unpacked = room.unpacked,
                                 .words = room.words},
                                room.stream);
                         first_page += std::ssize(batch.pages);
                       }});
    call_.finish(0);
    std::vector<std::byte> found(static_cast<size_t>(state_bytes));
    call_.fetch(found.data(), state.data(), state_bytes);
    nulls_.resize(columns_.size());
    std::memcpy(nulls_.data(), found.data(), 8 * columns_.size());
    for (size_t k = 0; k < chunks_.size(); ++k) {
      uint32_t refused;
      std::memcpy(&refused, found.data() + 8 * columns_.size() + 4 * k, 4);
      if (refused != 0) made_.reasons[chunks_[k].column] = "kernels refused its bytes";
    }
  }

  static std::vector<Piece> pieces_of(const PagePlan& plan) {
    std::vector<Piece> made;
    for (size_t b = 0; b < plan.batches.size(); ++b) {
      const BatchPlan& batch = plan.batches[b];
      auto read = batch.reads.begin();
      for (int64_t begin = 0; begin < batch.room_bytes; begin += plan.piece_bytes) {
        Piece& piece = made.emplace_back();
        piece.batch = static_cast<int64_t>(b);
        piece.begin = begin;
        piece.bytes = std::min(plan.piece_bytes, batch.room_bytes - begin);
        piece.is_last = begin + piece.bytes == batch.room_bytes;
        const auto first = read;
        while (read != batch.reads.end() &&
               read->to < static_cast<uint64_t>(begin + plan.piece_bytes))
          ++read;
        piece.reads = std::span(first, read);
      }
    }
    return made;
  }

  // What cannot be unpacked is left to the host's reader.
  void read_part(const PageRead& read, const Piece& piece) {
    std::unique_ptr<UnpackRoom> unpacker;
    if (read.unpack) {
      const std::lock_guard lock(mutex_);
      if (unpackers_.empty()) unpackers_.push_back(std::make_unique<UnpackRoom>());
      unpacker = std::move(unpackers_.back());
      unpackers_.pop_back();
    }
    char* const into = piece.block->buffer.mutable_as<char>();
    bool is_right = true;
    try {
      read_page_bytes(read, into + (static_cast<int64_t>(read.to) - piece.begin), unpacker.get());
    } catch (const Refusal&) {
      is_right = false;
    }
    if (!unpacker) return;
    const std::lock_guard lock(mutex_);
    unpackers_.push_back(std::move(unpacker));
    if (!is_right) made_.reasons[read.chunk->column] = "a page cannot be unpacked";
  }

  // On the stream of the room, but rows, which need dictionaries of earlier batches.
  void decode(const BatchPlan& plan, const PageBatch& batch, void* stream) {
    if constexpr (built_with_cuda) {
      cuda::find_values(stream, batch, plan.has_zstd);
      begin_after(op_, call_.stream(), stream);
      if (plan.slices > 0) cuda::write_rows(call_.stream(), batch, plan.slices);
      begin_after(op_, stream, call_.stream());
    }
  }

  void finish() {
    nulls_.resize(columns_.size());
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (!made_.reasons[c].empty()) continue;
      There& there = there_[c];
      const auto nulls = static_cast<int64_t>(nulls_[c]);
      Buffer validity = nulls > 0 ? std::move(there.validity) : Buffer();
      const Dtype dtype = columns_[c].dtype;
      made_.columns[c] =
          dtype.is_string()
              ? Column::strings(num_rows_, std::move(there.values), std::move(there.text),
                                std::move(validity), nulls)
              : Column(dtype, num_rows_, std::move(there.values), std::move(validity), nulls);
    }
  }

  std::string_view op_;
  Place place_;
  const std::vector<ColumnSchema>& columns_;
  const std::vector<ChunkSource>& chunks_;
  size_t num_groups_;
  int64_t num_rows_;
  std::vector<ChunkPlan> plans_;
  DeviceCall call_;
  DeviceColumns made_{};
  std::vector<There> there_{};
  std::vector<Buffer> dictionaries_{};
  std::vector<uint64_t> nulls_{};
  std::mutex mutex_{};  // of what follows, and of reasons while pages are read
  std::vector<std::unique_ptr<UnpackRoom>> unpackers_{};
};

}  // namespace

std::vector<Column> read_columns_at(Place place, const std::string& op,
                                    const std::vector<ColumnSchema>& columns,
                                    const std::vector<ChunkSource>& chunks, size_t num_groups,
                                    int64_t num_rows, const ReadHere& read_here) {
  DeviceColumns made{.columns = std::vector<std::optional<Column>>(columns.size()),
                     .reasons = std::vector<std::string>(columns.size(), kNoKernel)};
  if constexpr (built_with_cuda)
    made = Reader(place, op, columns, chunks, num_groups, num_rows).read();
  if (made.is_unpacked_here)
    run_on_host(op, "pages of this codec are unpacked on the host", place, {},
                [](auto) { return std::vector<Value>(); });
  std::vector<size_t> left;
  std::string reasons;
  bool has_flat = false;
  for (size_t c = 0; c < columns.size(); ++c) {
    if (made.columns[c]) continue;
    left.push_back(c);
    has_flat |= !columns[c].dtype.is_nested();
    if (reasons.find(made.reasons[c]) == std::string::npos)
      reasons += (reasons.empty() ? "" : "; ") + made.reasons[c];
  }
  const auto read_left = [&] {
    const std::vector<Column> here = read_here(left);
    for (size_t i = 0; i < left.size(); ++i) made.columns[left[i]] = here[i];
  };
  if (has_flat) {
    std::vector<size_t> moved;
    const std::vector<Value> there = run_on_host(op, reasons, place, {}, [&](auto) {
      read_left();
      std::vector<Value> flat;
      for (const size_t c : left) {
        if (columns[c].dtype.is_nested()) continue;
        moved.push_back(c);
        flat.emplace_back(*made.columns[c]);
      }
      return flat;
    });
    for (size_t i = 0; i < moved.size(); ++i) made.columns[moved[i]] = std::get<Column>(there[i]);
  } else if (!left.empty()) {
    record_fallback({op, reasons});
    read_left();
  }
  std::vector<Column> found;
  for (std::optional<Column>& column : made.columns) found.push_back(*std::move(column));
  return found;
}

}  // namespace hr::parquet
