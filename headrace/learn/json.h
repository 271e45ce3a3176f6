// SPDX-License-Identifier: Apache-2.0
// JSON from outside, checked whole before anything reads it.
#pragma once
#include "headrace/base/api.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// What is wrong with JSON, and at which byte.
struct JsonFault {
  std::string_view what;
  size_t at = 0;
};

/// One value of a JSON document (RFC 8259), whose text all its values share. Stricter than the
/// grammar: keys of an object are distinct, values lie at most 100 levels deep, and strings are
/// UTF-8 without halves of surrogate pairs. Numbers stay text until one asks. Takes 16 bytes a
/// value and the text.
class HR_API Json {
 public:
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  /// The text, which is at most 4 GiB long, or what is wrong with it in `fault`.
  static std::optional<Json> parse(std::string text, JsonFault& fault);

  Kind kind() const { return node().kind; }

  /// All of the text that this value is a part of.
  std::string_view text() const;

  /// Of a bool.
  bool boolean() const;

  /// Of a number: none unless it is an integer of 64 bits.
  std::optional<int64_t> integer() const;

  /// Of a number: the nearest double.
  double number() const;

  /// Of a string: its characters.
  std::string string() const;

  /// Of an array: its values.
  std::vector<Json> items() const;

  /// Of an object: the value of a key, if there is one.
  std::optional<Json> find(std::string_view key) const;

  /// Of an object: its keys, each before its value.
  std::vector<std::pair<std::string, Json>> members() const;

 private:
  struct Node {
    Kind kind;
    uint32_t begin;  // in the text
    uint32_t size;
    uint32_t next;  // the node behind this one and all inside of it
  };
  struct Document {
    std::string text;
    std::vector<Node> nodes;
  };
  class Parser;

  Json(std::shared_ptr<const Document> document, uint32_t place)
      : document_(std::move(document)), place_(place) {}

  const Node& node() const { return document_->nodes[place_]; }

  std::string_view own_text() const;

  std::shared_ptr<const Document> document_;
  uint32_t place_;
};

}  // namespace hr
