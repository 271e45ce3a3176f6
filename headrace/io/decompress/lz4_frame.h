// SPDX-License-Identifier: Apache-2.0
// LZ4's frame format, unpacked from untrusted bytes: what `lz4` and other tools write as files.
#pragma once
#include "headrace/io/decompress/packed_input.h"

namespace hr {

/// A reader of the frames that `packed` holds, one after the other; skippable ones are left out.
/// All checksums are compared. It throws InputError for damaged data, UnsupportedError for a frame
/// that needs a dictionary. At most two blocks, of 4 MiB each, are in memory.
ReadBytes read_lz4_frames(PackedInput packed);

}  // namespace hr
