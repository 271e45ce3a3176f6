// SPDX-License-Identifier: Apache-2.0
// Pieces of a file that all workers make, written in order while later ones are made.
#pragma once
#include "headrace/io/sink.h"

#include <cstdint>
#include <functional>
#include <string_view>

namespace hr {

/// The bytes of a piece, from any thread. They stay as they are until its slot is made anew.
using MakePiece = std::function<std::string_view(int64_t piece, int64_t slot)>;

/// How many pieces may exist at once, made but not written: two a thread.
HR_API int64_t num_piece_slots();

/// Appends pieces 0 to `count` - 1 to the sink. Piece k has slot k % `slots`, which is `slots` =
/// num_piece_slots(), and is made once the one before it in that slot is written. Throws what
/// `make` throws, what the sink throws, and Interrupted; the sink is to be discarded then. The
/// calling thread alone writes where the sink takes no places, between pieces.
HR_API void write_in_order(Sink& sink, int64_t count, int64_t slots, const MakePiece& make);

/// The same, handed to `write` on the calling thread.
HR_API void write_in_order(const std::function<void(std::string_view)>& write, int64_t count,
                           int64_t slots, const MakePiece& make);

}  // namespace hr
