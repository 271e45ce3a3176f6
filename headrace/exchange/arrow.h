// SPDX-License-Identifier: Apache-2.0
// Columns and tables through the Arrow C data and stream interfaces.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/table.h"
#include "headrace/exchange/arrow_abi.h"

#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// Fills `schema` for one column: numbers as Arrow's, bool as bits, strings as Utf8View ("vu"),
/// dates as date32, timestamps without zone, categories as int32 codes into a dictionary of
/// strings ("u") that is not ordered, lists as large lists ("+L"), structs and maps as Arrow's. The
/// caller releases it. Throws
/// UnsupportedError for complex dtypes and InvalidArgumentError for a name with a NUL byte (Arrow's
/// names end there); `schema` is then untouched.
HR_API void to_arrow_schema(Dtype dtype, std::string_view name, ArrowSchema* schema);

/// The same for a table: a struct of its columns.
HR_API void to_arrow_schema(const std::vector<std::string>& names, const std::vector<Dtype>& dtypes,
                            ArrowSchema* schema);

/// The same from data, which also tell whether a dictionary is ordered.
HR_API void to_arrow_schema(const Column& column, ArrowSchema* schema);
HR_API void to_arrow_schema(const Table& table, ArrowSchema* schema);

/// Fills `array` with the column's own buffers: no row is copied, and the buffers live until the
/// consumer releases the array, from any thread. The strings of a dictionary alone are copied, to
/// the layout with offsets that every consumer reads, and so are items of lists and fields of
/// structs that the rows do not have in order (in the ledger). Throws UnsupportedError for
/// complex dtypes, for dictionaries of more than 2 GiB and for more than 2^31 - 1 entries of maps.
HR_API void to_arrow_array(const Column& column, ArrowArray* array);
HR_API void to_arrow_array(const Table& table, ArrowArray* array);

/// A stream over the given chunks of one column, or over one table. Nothing is copied. Throws as
/// above, before the stream is made.
HR_API void to_arrow_stream(Dtype dtype, std::vector<Column> chunks, ArrowArrayStream* stream);
HR_API void to_arrow_stream(const Table& table, ArrowArrayStream* stream);

/// What came in: columns in chunks, as the producer had them.
struct ArrowColumns {
  bool is_table = false;  ///< a struct of columns; else one column, whose name may be empty
  std::vector<std::string> names;
  std::vector<Dtype> dtypes;
  /// [column][chunk]; an empty chunk is there only for its dictionary.
  std::vector<std::vector<Column>> chunks;
  int64_t num_rows = 0;
};

/// Takes an array, or all arrays of a stream, and leaves `array` or `stream` released, also when it
/// throws. Numbers, bools, dates (date32), timestamps without zone and string views are shared, not
/// copied, and released when the last column goes. Strings with offsets ("u", "U") get views of 16
/// bytes a row over the shared text. Dictionaries of strings become categories: codes of 32 bits
/// are shared, others are copied, and so are all when entries repeat or are null. Lists ("+l",
/// "+L", "+w") and maps get spans of 16 bytes a row over their shared items, structs places of 8
/// bytes a row in their shared fields. date64 is copied
/// to dates. All copies are in the ledger. A column of type null becomes float64 nulls. Structs at
/// the top are a table, or with `as_column` one column. Throws
/// UnsupportedError for other formats, naming the column and the fix, InvalidArgumentError for
/// structures that contradict themselves, InputError when the producer fails.
HR_API ArrowColumns from_arrow(std::string_view op, const ArrowSchema& schema, ArrowArray* array,
                               bool as_column = false);
HR_API ArrowColumns from_arrow(std::string_view op, ArrowArrayStream* stream,
                               bool as_column = false);

/// Fills `array` with buffers where they are: on the host as `to_arrow_array` does; of a CUDA
/// device with an event behind all that writes them, and the device's memory is not given away
/// before the consumer releases the array. The simulated device is of type EXT_DEV, for tests.
/// Throws UnsupportedError for dictionaries on a device as well.
HR_API void to_arrow_device_array(const Column& column, ArrowDeviceArray* array);
HR_API void to_arrow_device_array(const Table& table, ArrowDeviceArray* array);

/// Takes an array of the host as `from_arrow` does. Of a device the numbers, bools and times are
/// shared; this thread's current stream waits for the producer's event. Throws UnsupportedError for
/// other columns of a device and for nulls that are not counted, DeviceError for a device that
/// cannot be used.
HR_API ArrowColumns from_arrow_device(std::string_view op, const ArrowSchema& schema,
                                      ArrowDeviceArray* array, bool as_column = false);

/// For this room: arrays whose buffers are at any place.
void to_arrow_array_there(const Column& column, ArrowArray* array);
void to_arrow_array_there(const Table& table, ArrowArray* array);
ArrowColumns from_arrow_at(std::string_view op, const ArrowSchema& schema, ArrowArray* array,
                           Place place, bool as_column);

}  // namespace hr
