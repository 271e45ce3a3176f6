// SPDX-License-Identifier: Apache-2.0
// Values for other processes: shared segments, and headers and pieces for pickle.
#include "python/bind/bind.h"
#include "python/bind/interpreter.h"

#include "headrace/algo/keys/hash_rows.h"
#include "headrace/exchange/serialize.h"
#include "headrace/exchange/share.h"
#include "headrace/memory/buffer/shared_memory.h"
#include "headrace/memory/resource/resource.h"

#include <nanobind/stl/variant.h>

#include <memory>

namespace {

using Label = std::optional<std::string>;

nb::tuple unpacked_tuple(hr::Deserialized unpacked) {
  nb::object value =
      std::visit([](auto& held) { return nb::cast(std::move(held)); }, unpacked.value);
  return nb::make_tuple(std::move(value), unpacked.label);
}

// The header, and each piece as a read-only array of bytes over its own memory.
nb::tuple packed_tuple(const hr::Serializable& value, std::string_view op, const Label& label) {
  hr::Serialized packed;
  {
    const GilReleased unlocked;
    packed = hr::serialize(op, value, label);
  }
  nb::list pieces;
  for (const hr::SerializedBuffer& piece : packed.pieces)
    pieces.append(hr::Tensor(hr::TypeId::kUInt8, {piece.size_bytes}, piece.buffer, piece.begin));
  return nb::make_tuple(nb::bytes(packed.header.data(), packed.header.size()), pieces);
}

nb::tuple deserialize(nb::bytes header, const std::vector<nb::object>& buffers,
                      std::string_view op) {
  drain_releases();
  std::vector<hr::Buffer> pieces;
  for (const nb::object& buffer : buffers) pieces.push_back(adopt_bytes(buffer, op));
  hr::Deserialized unpacked;
  {
    const GilReleased unlocked;
    unpacked = hr::deserialize(op, {header.c_str(), header.size()}, std::move(pieces));
  }
  return unpacked_tuple(std::move(unpacked));
}

nb::tuple attach(std::string_view token) {
  hr::Deserialized unpacked;
  {
    const GilReleased unlocked;
    unpacked = hr::attach(token);
  }
  return unpacked_tuple(std::move(unpacked));
}

// New buffers of a block of code come from shared segments.
class SharingScope {
 public:
  void enter() { scope_ = std::make_unique<hr::ScopedResource>(hr::shared_resource()); }

  void exit() { scope_.reset(); }

 private:
  std::unique_ptr<hr::ScopedResource> scope_;
};

}  // namespace

void bind_share(nb::module_& m) {
  m.def(
      "hash_rows", [](const std::vector<hr::Column>& columns) { return hr::hash_rows(columns); },
      "columns"_a, Unlocked());
  nb::class_<hr::SharedValue>(m, "SharedValue")
      .def(nb::init<const hr::Serializable&, const Label&>(), "value"_a, "label"_a = nb::none(),
           Unlocked())
      .def_prop_ro("token", &hr::SharedValue::token)
      .def_prop_ro("nbytes", &hr::SharedValue::size_bytes)
      .def_prop_ro("num_leases", &hr::SharedValue::num_leases)
      .def_prop_ro("was_attached", &hr::SharedValue::was_attached);
  m.def("attach", attach, "token"_a,
        nb::sig("def attach(token: str) -> tuple[Column | Tensor | Table, str | None]"));
  m.def(
      "serialize", packed_tuple, "value"_a, "op"_a, "label"_a = nb::none(),
      nb::sig("def serialize(value: Column | Tensor | Table, op: str, label: str | None = None) -> "
              "tuple[bytes, list[typing.Any]]"));
  m.def("deserialize", deserialize, "header"_a, "buffers"_a, "op"_a,
        nb::sig(
            "def deserialize(header: bytes, buffers: collections.abc.Sequence[object], op: str) -> "
            "tuple[Column | Tensor | Table, str | None]"));
  m.def("in_own_memory", &hr::in_own_memory, "op"_a, "value"_a, Unlocked());
  nb::class_<SharingScope>(m, "SharingScope")
      .def(nb::init<>())
      .def("enter", &SharingScope::enter)
      .def("exit", &SharingScope::exit);
}
