// SPDX-License-Identifier: Apache-2.0
// String columns of all batches: views made at their final place, from offsets or from views.
#pragma once
#include "headrace/exec/scratch_pool.h"
#include "headrace/io/ipc/body.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace hr::ipc {

/// What one task does for a batch; throws Damage, or InvalidArgumentError for the content.
struct BatchTask {
  size_t batch;
  std::function<void()> run;
};

/// One string column while it is read. Text is kept only of batches with strings that do not fit in
/// their view. Nothing is believed: offsets and views are compared with the text, which is checked
/// to be UTF-8 while the caches hold it.
class StringReading {
 public:
  /// Whether batches of this field can be read so: strings without a dictionary, with less than
  /// 4 GiB of text a batch.
  static bool can_read(const Field& field, const std::vector<Batch>& batches,
                       const std::vector<FieldPlace>& places);

  /// `places`: of the field, by batch. `memories`: those of all tasks. All outlive this. Throws
  /// Damage for buffers that are too short, OutOfMemoryError.
  StringReading(std::string_view op, const ByteSource& text, const Field& field,
                const std::vector<Batch>& batches, std::vector<FieldPlace> places, int64_t rows,
                ScratchPool<BodyMemory>& memories);

  /// Tasks that run in any order, and those that wait for them.
  void plan(std::vector<BatchTask>& first, std::vector<BatchTask>& second);

  /// After all tasks.
  Column finish(Buffer validity);

 private:
  // A buffer of the column.
  struct Store {
    Buffer bytes{};
    bool is_placed = false;  ///< `bytes` is there before the tasks, who read straight to it
    std::mutex mutex{};
  };

  // A buffer of a batch, and where it is stored.
  struct Text {
    size_t store = 0;
    int64_t begin = 0;
    int64_t size = 0;
    std::atomic<bool> is_ascii{true};
  };

  void place_texts(size_t batch);
  template <class Offset>
  void plan_offsets(size_t batch, std::vector<BatchTask>& tasks);
  template <class Offset>
  void read_offsets(size_t batch, int64_t begin, int64_t rows);
  template <class Offset>
  void read_packed_offsets(size_t batch, BodyMemory& memory);
  void plan_views(size_t batch, std::vector<BatchTask>& first, std::vector<BatchTask>& second);
  void read_text(size_t batch, size_t text, int64_t begin, int64_t size);
  void read_views(size_t batch, int64_t begin, int64_t rows);

  /// The bits of some rows, from a whole byte on; nothing where no row is null.
  Buffer validity_of(size_t batch, int64_t begin, int64_t rows) const;
  /// Stores text that one task has to itself, once views need it.
  void keep(Store& store, int64_t size, int64_t begin, std::string_view part);
  /// Behind the last of a batch.
  size_t end_of_texts(size_t batch) const {
    return batch + 1 < first_text_.size() ? first_text_[batch + 1] : texts_.size();
  }
  StringView* views_at(size_t batch, int64_t begin) {
    return views_.mutable_as<StringView>() + first_row_[batch] + begin;
  }

  std::string_view op_;
  const ByteSource& text_;
  const Field& field_;
  const std::vector<Batch>& batches_;
  std::vector<FieldPlace> places_;
  std::vector<int64_t> first_row_{};
  std::vector<size_t> first_text_{};  // of each batch, among texts_
  int64_t rows_;
  ScratchPool<BodyMemory>& memories_;
  Buffer views_{};
  std::vector<std::unique_ptr<Text>> texts_{};
  std::vector<std::unique_ptr<Store>> stores_{};
};

}  // namespace hr::ipc
