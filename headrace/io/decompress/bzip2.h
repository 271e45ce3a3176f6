// SPDX-License-Identifier: Apache-2.0
// bzip2 streams, unpacked from untrusted bytes. Ours, since Debian's archive of the library cannot
// be part of a shared one.
#pragma once
#include "headrace/io/decompress/packed_input.h"

namespace hr {

/// A reader of the streams that `packed` holds, one after the other. The checksums of blocks and
/// streams are compared. It throws InputError for damaged data, UnsupportedError for randomised
/// blocks, which no program has written since 1997. One block, of 900 kB at most, is in memory,
/// four bytes for each of its own.
ReadBytes read_bzip2(PackedInput packed);

}  // namespace hr
