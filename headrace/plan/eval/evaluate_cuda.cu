// SPDX-License-Identifier: Apache-2.0
// The evaluator on a CUDA device: a program becomes the text of one kernel, which reads each input
// and writes each output once and folds reductions in the CPU's order.
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/data/device_launch.h"
#include "headrace/exec/workers.h"
#include "headrace/plan/eval/device_operations.h"
#include "headrace/plan/eval/evaluate.h"
#include "headrace/plan/eval/evaluate_compile.h"
#include "headrace/plan/eval/kernel_cache.h"
#include "headrace/plan/eval/nvrtc_source.h"

#include <algorithm>
#include <cstring>
#include <headrace/plan/eval/evaluate_sources.h>
#include <map>
#include <optional>
#include <string>

namespace hr::cuda {

namespace {

using Node = Program::Node;
using OutputKind = Program::OutputKind;

constexpr int64_t kGroupRows = 16 * kBlockRows;  // of a block of threads
constexpr unsigned kThreads = 256;

// The aggregate whose partial states another one is made of.
Aggregate kernel_of(Aggregate reduction) {
  return reduction == Aggregate::kSem ? Aggregate::kStd : reduction;
}

const char* why_unsupported(const Value& input, const Shape& shape) {
  const auto* tensor = std::get_if<Tensor>(&input);
  if (!tensor || tensor->num_elements() == 1) return nullptr;
  // It broadcasts to the shape, as was checked when the node was made.
  return tensor->shape().size() <= shape.size() ? nullptr
                                                : "an array of this layout has no kernel for CUDA";
}

const char* why_unsupported_power(const Program& program, const Node& node, Dtype of) {
  const Node& exponent = program.nodes()[at(node.operands[1])];
  const bool is_known = exponent.op == Op::kConstant && exponent.constant.as<int64_t>() >= 0;
  return of.is_signed() && !is_known
             ? "integers to a power that may be negative have no kernel for CUDA"
             : nullptr;
}

const char* why_unsupported(const Program& program, const Node& node, std::span<const Value> inputs,
                            const Shape& shape) {
  constexpr const char* kNoType = "this dtype has no kernel for CUDA";
  if (node.op == Op::kIsNull) return nullptr;
  if (!type_of(node.dtype)) return kNoType;
  switch (node.op) {
    case Op::kInput:
      return why_unsupported(inputs[at(node.input)], shape);
    case Op::kConstant:
      return nullptr;
    case Op::kCast:
    case Op::kFillNull:
    case Op::kWhere:
    case Op::kLogicalNot:
    case Op::kInvert:
      break;
    default: {
      const Dtype of = program.dtype(node.operands[0]);
      bool shared = true;
      if (struct_of(node.op, of) || template_of(node.op)) break;
      if (node.op == Op::kPower && of.is_integer()) return why_unsupported_power(program, node, of);
      if (!function_of(node.op, shared) || !of.is_floating())
        return "this operation has no kernel for CUDA";
    }
  }
  const Dtype of = program.dtype(node.operands[node.op == Op::kWhere ? 1 : 0]);
  return type_of(of) ? nullptr : kNoType;
}

// Whether a value is read for its nulls alone, which columns of any dtype have.
bool is_tested_for_null(const Program& program, const std::vector<bool>& needed, int value) {
  for (const Program::Output& output : program.outputs())
    if (output.value == value) return false;
  for (size_t v = 0; v < program.nodes().size(); ++v) {
    const Node& node = program.nodes()[v];
    if (needed[v] && node.op != Op::kIsNull &&
        std::ranges::find(node.operands, value) != std::end(node.operands))
      return false;
  }
  return true;
}

uint64_t word_of(const Scalar& value, Dtype dtype) {
  uint64_t word = 0;
  if (value.is_null()) return word;
  if (dtype.is_bool()) return value.as<uint8_t>() != 0;
  visit_real(dtype, [&]<class T>(std::type_identity<T>) {
    const T number = value.as<T>();
    if constexpr (std::is_floating_point_v<T>)
      std::memcpy(&word, &number, sizeof number);
    else
      word = static_cast<uint64_t>(number);
  });
  return word;
}

/// The text of a kernel and the words of its argument.
class Writer {
 public:
  Writer(const Program& program, std::span<const Value> values, const Shape& shape)
      : program_(program),
        values_(values),
        shape_(shape),
        rows_(num_elements(shape)),
        needed_(needed_values(program)),
        valid_(program.nodes().size()),
        groups_(divide_up(rows_, kGroupRows)),
        morsels_(divide_up(rows_, kMorselRows)) {
    for (const Value& value : values_)
      visit_buffer(value, [&](const Buffer& buffer) {
        if (buffer.place().is_gpu()) place_ = buffer.place();
      });
  }

  std::vector<Value> run(const std::vector<bool>& partial) {
    DeviceCall call("evaluate", *place_);
    const int64_t rows_word = add_word(static_cast<uint64_t>(rows_));
    const int64_t groups_word = add_word(static_cast<uint64_t>(groups_));
    for (size_t v = 0; v < program_.nodes().size(); ++v)
      if (needed_[v]) write_value(static_cast<int>(v), call);
    std::vector<Made> out;
    std::vector<size_t> reductions;
    for (size_t o = 0; o < program_.outputs().size(); ++o) {
      if (program_.outputs()[o].kind == OutputKind::kReduction)
        reductions.push_back(o);
      else
        out.push_back(write_output(o, call));
    }
    const Buffer valid_counts = call.scratch(8 * num_counted_);
    if (num_counted_ > 0) call.fill(call.writes(valid_counts), 0, 8 * num_counted_);
    const std::string valid_at = "a.word[" + std::to_string(add_word(address(valid_counts))) + "]";
    Buffer partials;
    Buffer merged;
    const auto count = static_cast<int64_t>(reductions.size());
    constexpr auto size = static_cast<int64_t>(sizeof(ReducePartial));
    if (count > 0 && rows_ > 0) {
      partials = call.scratch(count * groups_ * size);
      merged = call.scratch(count * morsels_ * size);
    }
    const std::string partials_at = "a.word[" + std::to_string(add_word(address(partials))) + "]";
    const std::string merged_at = "a.word[" + std::to_string(add_word(address(merged))) + "]";
    const std::string source =
        text(rows_word, groups_word, reductions, partials_at, merged_at, valid_at);
    std::vector<ReducePartial> found(at(count * morsels_));
    std::vector<int64_t> valid(at(num_counted_), 0);
    if (rows_ > 0) {
      launch("program_kernel", source, groups_, kThreads, call);
      for (const Made& each : out) {
        call.writes(each.values);
        call.writes(each.validity);
      }
      if (count > 0) launch("merge_kernel", source, divide_up(morsels_, int64_t{64}), 64, call);
      call.finish(0);
      if (count > 0) call.fetch(found.data(), merged.data(), count * morsels_ * size);
      if (num_counted_ > 0) call.fetch(valid.data(), valid_counts.data(), 8 * num_counted_);
    }
    std::vector<Value> results;
    size_t next = 0;
    size_t reduction = 0;
    for (size_t o = 0; o < program_.outputs().size(); ++o) {
      const Program::Output& output = program_.outputs()[o];
      const Dtype dtype = program_.dtype(output.value);
      if (output.kind == OutputKind::kTensor) {
        results.emplace_back(Tensor(dtype, shape_, std::move(out[next++].values)));
      } else if (output.kind == OutputKind::kColumn) {
        Made& made = out[next++];
        const int64_t nulls = made.counted < 0 ? 0 : rows_ - valid[at(made.counted)];
        results.emplace_back(Column(dtype, rows_, std::move(made.values),
                                    nulls > 0 ? std::move(made.validity) : Buffer(), nulls));
      } else {
        const auto first = found.begin() + static_cast<int64_t>(reduction++) * morsels_;
        std::vector<ReducePartial> own(first, first + morsels_);
        if (!partial.empty() && partial[o]) {
          results.emplace_back(PartialRows{rows_, kMorselRows, std::move(own)}.bytes());
          continue;
        }
        const Reducer reducer(output.reduction, dtype, output.options);
        PartialTree tree(reducer);
        for (const ReducePartial& each : own) tree.push(each);
        results.emplace_back(reducer.finish(tree.total()));
      }
    }
    return results;
  }

 private:
  /// An output of one value per row; of one with nulls the count of those that are there is one of
  /// the counts.
  struct Made {
    Buffer values{};
    Buffer validity{};
    int64_t counted = -1;
  };

  template <class F>
  static void visit_buffer(const Value& value, const F& visit) {
    if (const auto* tensor = std::get_if<Tensor>(&value)) visit(tensor->buffer());
    if (const auto* column = std::get_if<Column>(&value)) visit(column->values_buffer());
  }

  static uint64_t address(const Buffer& buffer) {
    return reinterpret_cast<uint64_t>(buffer.data());
  }

  int64_t add_word(uint64_t word) {
    words_.push_back(word);
    return static_cast<int64_t>(words_.size()) - 1;
  }

  std::string word(uint64_t value) { return "a.word[" + std::to_string(add_word(value)) + "]"; }

  static std::string name(int value) { return "v" + std::to_string(value); }

  void line(int value, Dtype dtype, const std::string& expression) {
    body_ +=
        std::string("    const ") + type_of(dtype) + " " + name(value) + " = " + expression + ";\n";
  }

  void constant(int value, Dtype dtype, const Scalar& scalar) {
    if (scalar.is_null()) valid_[at(value)] = "false";
    line(value, dtype,
         std::string("word_as<") + type_of(dtype) + ">(" + word(word_of(scalar, dtype)) + ")");
  }

  void write_input(int value, const Node& node, DeviceCall& call) {
    const Value& given = values_[at(node.input)];
    if (const auto* scalar = std::get_if<Scalar>(&given))
      return constant(value, node.dtype, *scalar);
    if (const auto* tensor = std::get_if<Tensor>(&given))
      return write_tensor(value, node, *tensor, call);
    const auto& column = std::get<Column>(given);
    if (column.num_rows() != rows_)
      throw_error<InvalidArgumentError>("evaluate", "an input has another size",
                                        {{"size", column.num_rows()}, {"expected", rows_}});
    if (column.null_count() > 0) {
      if (!node.nullable)
        throw_error<InvalidArgumentError>("evaluate",
                                          "the input contains nulls but is declared without",
                                          {{"input", node.input}});
      call.reads(column.validity_buffer());
      set_valid(value, bit_text(column.validity_buffer(), column.offset()));
    }
    if (!type_of(node.dtype)) return;  // asked for its nulls alone
    call.reads(column.values_buffer());
    if (!node.dtype.is_bool())
      return line(value, node.dtype,
                  element(node.dtype,
                          word(address(column.values_buffer()) +
                               static_cast<uint64_t>(column.offset() * node.dtype.size_bytes())),
                          "i"));
    line(value, node.dtype, bit_text(column.values_buffer(), column.offset()));
  }

  /// Bit `offset` + i of a bitmap.
  std::string bit_text(const Buffer& bitmap, int64_t offset) {
    const std::string bit = "(" + word(static_cast<uint64_t>(offset)) + " + i)";
    return "((reinterpret_cast<const uint8_t*>(" + word(address(bitmap)) + "))[" + bit +
           " >> 3] >> (" + bit + " & 7)) & 1";
  }

  void set_valid(int value, const std::string& expression) {
    if (expression.empty() || !program_.nullable(value)) return;
    const std::string own = "valid" + std::to_string(value);
    body_ += "    const bool " + own + " = " + expression + ";\n";
    valid_[at(value)] = own;
  }

  /// Whether the result of an operation is there, of what its operands are: the rules of the CPU's
  /// BoundProgram::set_validity.
  std::string valid_text(const Node& node) const {
    std::string operands[3];
    bool any = false;
    for (int k = 0; k < 3; ++k)
      if (node.operands[k] >= 0) {
        operands[k] = valid_[at(node.operands[k])];
        any |= !operands[k].empty();
      }
    if (!any || node.op == Op::kIsNull) return "";
    const auto known = [&](int k) { return operands[k].empty() ? "true" : operands[k]; };
    const auto own = [&](int k) { return name(node.operands[k]); };
    const bool on_bools = node.dtype.is_bool();
    if (node.op == Op::kFillNull)
      return operands[0].empty() || operands[1].empty() ? "" : operands[0] + " || " + operands[1];
    if (node.op == Op::kWhere)
      return known(0) + " && (" + own(0) + " ? " + known(1) + " : " + known(2) + ")";
    const bool is_and = node.op == Op::kLogicalAnd || (node.op == Op::kBitwiseAnd && on_bools);
    if (is_and || node.op == Op::kLogicalOr || (node.op == Op::kBitwiseOr && on_bools)) {
      const std::string decides = is_and ? " && !" : " && ";  // Kleene: a false, or a true
      return "(" + known(0) + " && " + known(1) + ") || (" + known(0) + decides + own(0) +
             ") || (" + known(1) + decides + own(1) + ")";
    }
    std::string all;
    for (const std::string& each : operands)
      if (!each.empty()) all += (all.empty() ? "" : " && ") + each;
    return all;
  }

  static std::string element(Dtype dtype, const std::string& address, const std::string& index) {
    return std::string("(reinterpret_cast<const ") + type_of(dtype) + "*>(" + address + "))[" +
           index + "]";
  }

  void write_tensor(int value, const Node& node, const Tensor& tensor, DeviceCall& call) {
    const bool is_literal = tensor.num_elements() == 1 && tensor.place().is_host();
    if (!is_literal) call.reads(tensor.buffer());
    if (is_literal || (tensor.num_elements() == 1 && rows_ != 1)) {
      // The same in every row.
      uint64_t bits = 0;
      const int64_t size = node.dtype.size_bytes();
      if (tensor.place().is_host())
        std::memcpy(&bits, tensor.data(), at(size));
      else
        call.fetch(&bits, tensor.data(), size);
      return line(value, node.dtype,
                  std::string("word_as<") + type_of(node.dtype) + ">(" + word(bits) + ")");
    }
    const std::string first = word(reinterpret_cast<uint64_t>(tensor.data()));
    if (tensor.shape() == shape_ && tensor.is_contiguous())
      return line(value, node.dtype, element(node.dtype, first, "i"));
    line(value, node.dtype, element(node.dtype, first, offset_text(tensor)));
  }

  /// Where a strided or repeated array has the element of row i, in row-major order of the shape.
  std::string offset_text(const Tensor& tensor) {
    const std::string type = rows_ <= UINT32_MAX ? "static_cast<uint32_t>(" : "(";
    const size_t missing = shape_.size() - tensor.shape().size();
    std::string sum;
    int64_t below = 1;
    for (size_t axis = shape_.size(); axis-- > missing; below *= shape_[axis]) {
      const int64_t stride = tensor.strides()[axis - missing];
      if (tensor.shape()[axis - missing] == 1 || stride == 0) continue;
      std::string place = type + "i)";
      if (below > 1) place += " / " + type + word(static_cast<uint64_t>(below)) + ")";
      if (axis > 0) place += " % " + type + word(static_cast<uint64_t>(shape_[axis])) + ")";
      sum += (sum.empty() ? "" : " + ") + ("static_cast<int64_t>(" + place + ")");
      if (stride != 1)
        sum += " * static_cast<int64_t>(" + word(static_cast<uint64_t>(stride)) + ")";
    }
    return sum.empty() ? "0" : sum;
  }

  void write_value(int value, DeviceCall& call) {
    const Node& node = program_.nodes()[at(value)];
    if (node.op == Op::kInput) return write_input(value, node, call);
    if (node.op == Op::kConstant) return constant(value, node.dtype, node.constant);
    set_valid(value, valid_text(node));
    const Dtype of = program_.dtype(node.operands[node.op == Op::kWhere ? 1 : 0]);
    const std::string a = name(node.operands[0]);
    const std::string b = node.operands[1] >= 0 ? name(node.operands[1]) : "";
    const std::string both = "(" + a + (b.empty() ? "" : ", " + b) + ")";
    if (node.op == Op::kIsNull) {
      const std::string& valid = valid_[at(node.operands[0])];
      return line(value, node.dtype, valid.empty() ? "0" : "!" + valid);
    }
    const std::string type = type_of(of);
    bool shared = true;
    if (node.op == Op::kCast) {
      const std::string from = of.is_bool() ? "Bool" : type;
      const std::string to = node.dtype.is_bool() ? "Bool" : type_of(node.dtype);
      return line(value, node.dtype,
                  "convert<" + to + ", " + from + ">(" + (of.is_bool() ? "Bool{" + a + "}" : a) +
                      ")" + (node.dtype.is_bool() ? ".byte" : ""));
    }
    if (node.op == Op::kFillNull) {
      const std::string& valid = valid_[at(node.operands[0])];
      return line(value, node.dtype, valid.empty() ? a : valid + " ? " + a + " : " + b);
    }
    if (node.op == Op::kWhere)
      return line(value, node.dtype, a + " ? " + b + " : " + name(node.operands[2]));
    if (node.op == Op::kLogicalNot || (node.op == Op::kInvert && of.is_bool()))
      return line(value, node.dtype, a + " ^ 1");
    if (node.op == Op::kInvert)
      return line(value, node.dtype, "static_cast<" + type + ">(~" + a + ")");
    if (const char* found = struct_of(node.op, of))
      return line(value, node.dtype, std::string(found) + "::apply<" + type + ">" + both);
    if (const char* found = template_of(node.op))
      return line(value, node.dtype,
                  std::string(found) + "<" + type + ">(" + a + ", " + divisor_text(node, b) + ")");
    if (node.op == Op::kPower && of.is_integer())
      return line(value, node.dtype, "integer_power<" + type + ">" + both);
    if (node.op == Op::kSin || node.op == Op::kCos) return write_angle(value, node, type);
    const char* function = function_of(node.op, shared);
    const auto argument = [&](const std::string& x) {
      return shared ? "Lane(static_cast<double>(" + x + "))" : "static_cast<double>(" + x + ")";
    };
    line(value, node.dtype,
         std::string("static_cast<") + type + ">(" + (shared ? "vmath::" : "::") + function + "(" +
             argument(a) + (b.empty() ? "" : ", " + argument(b)) + ")" + (shared ? ".v)" : ")"));
    has_functions_ = true;
  }

  // A divisor that the kernel is compiled for as a number, others as they come.
  std::string divisor_text(const Node& node, const std::string& given) const {
    const Node& divisor = program_.nodes()[at(node.operands[1])];
    if (!divisor.dtype.is_integer() || divisor.op != Op::kConstant || divisor.constant.is_null() ||
        !is_compiled_divisor(divisor.constant.as<int64_t>()))
      return given;
    return std::string("static_cast<") + type_of(divisor.dtype) + ">(" +
           std::to_string(divisor.constant.as<int64_t>()) + ")";
  }

  // Sine and cosine of one value share the reduction.
  void write_angle(int value, const Node& node, const std::string& type) {
    const std::string both = "angle" + std::to_string(node.operands[0]);
    if (!angles_[node.operands[0]]) {
      angles_[node.operands[0]] = true;
      body_ += "    Lane " + both + "_sine, " + both +
               "_cosine;\n    vmath::sin_cos(Lane(static_cast<double>(" + name(node.operands[0]) +
               ")), " + both + "_sine, " + both + "_cosine);\n";
    }
    line(value, node.dtype,
         "static_cast<" + type + ">(" + both + (node.op == Op::kSin ? "_sine.v)" : "_cosine.v)"));
    has_functions_ = true;
  }

  Made write_output(size_t o, DeviceCall& call) {
    const Program::Output& output = program_.outputs()[o];
    const Dtype dtype = program_.dtype(output.value);
    const std::string& valid = valid_[at(output.value)];
    const bool as_bits = output.kind == OutputKind::kColumn && dtype.is_bool();
    const int64_t bitmap = round_up(bitmap_bytes(rows_), 8);
    Made made;
    made.values =
        call.scratch(as_bits ? bitmap : checked_multiply("evaluate", rows_, dtype.size_bytes()));
    const std::string first = word(address(made.values));
    // The lanes of a warp are 32 rows: one word of a bitmap. Null slots are zero.
    const auto store_bits = [&](const std::string& condition, const std::string& to,
                                const std::string& also) {
      stores_ += "    { const unsigned bits = __ballot_sync(~0u, inside && " + condition +
                 "); if (lane == 0 && inside) reinterpret_cast<unsigned*>(" + to +
                 ")[i / 32] = bits;" + also + " }\n";
    };
    const std::string value = name(output.value);
    if (as_bits)
      store_bits(valid.empty() ? value : valid + " && " + value, first, "");
    else
      stores_ +=
          std::string("    if (inside) reinterpret_cast<") + type_of(dtype) + "*>(" + first +
          ")[i] = " +
          (valid.empty() ? value
                         : valid + " ? " + value + " : static_cast<" + type_of(dtype) + ">(0)") +
          ";\n";
    if (valid.empty() || output.kind != OutputKind::kColumn) return made;
    made.validity = call.scratch(bitmap);
    made.counted = num_counted_++;
    store_bits(valid, word(address(made.validity)),
               " there" + std::to_string(made.counted) + " += __popc(bits);");
    return made;
  }

  /// `work` on the 1024 rows of a warp, 32 at once.
  std::string row_loop(const std::string& work) const {
    const std::string open = "    for (int k = 0; k < 32; ++k) {\n";
    return std::string("    if (first + 1024 <= rows) {\n#pragma unroll ") +
           (has_functions_ ? "2" : "8") + "\n" + open +
           "    const bool inside = true;\n    const int64_t i = first + k * 32 + lane;\n" + work +
           "    }\n    } else {\n#pragma unroll 1\n" + open +
           "    const int64_t place = first + k * 32 + lane;\n    const bool inside = place < "
           "rows;\n"
           "    const int64_t i = inside ? place : rows - 1;\n" +
           work + "    }\n    }\n";
  }

  /// What reductions add to the kernels, each a line or more a reduction.
  struct ReductionText {
    std::string folds{};   // declares them
    std::string takes{};   // in the row loop
    std::string ends{};    // behind it
    std::string merges{};  // of the warps of a block of threads
    std::string keeps{};
    std::string second{};  // of the blocks
  };

  ReductionText reduction_text(const std::vector<size_t>& reductions, const std::string& partials,
                               const std::string& merged) const {
    ReductionText text;
    for (size_t r = 0; r < reductions.size(); ++r) {
      const Program::Output& output = program_.outputs()[reductions[r]];
      const Aggregate kind = kernel_of(output.reduction);
      const std::string fold = "Fold<" + std::string(type_of(program_.dtype(output.value))) + ", " +
                               std::to_string(static_cast<int>(kind)) + ">";
      const std::string step = std::to_string(r);
      const std::string own = "fold" + step;
      const std::string place = "parts[" + step + "]";
      const std::string skip = output.options.skip_nan ? "true" : "false";
      const std::string x = name(output.value);
      text.folds += "    " + fold + " " + own + ";\n";
      const std::string& valid = valid_[at(output.value)];
      const std::string taken = valid.empty() ? "inside" : "inside && " + valid;
      text.takes += "    if (" + taken + ") " + own + ".take(" + x + ", i, " + skip + ");\n";
      text.ends += "    " + own + ".fold_lanes();\n";
      if (kind == Aggregate::kVariance || kind == Aggregate::kStd)
        // The values once more, from the cache.
        text.ends += "    const double " + own + "_mean = __shfl_sync(~0u, " + own +
                     ".value, 0) / static_cast<double>(__shfl_sync(~0u, " + own + ".count, 0));\n" +
                     row_loop(body_ + "    if (" + taken + ") " + own + ".take_square(" + x + ", " +
                              own + "_mean, " + skip + ");\n") +
                     "    " + own + ".fold_squares();\n";
      text.ends += "    if (lane == 0) " + place + "[b] = " + own + ".partial();\n";
      const std::string lane = "(static_cast<int>(threadIdx.x) - " + std::to_string(8 * r) + ")";
      text.merges += "    merge_pair<" + fold + ">(" + place + ", " + lane + ", step, blocks);\n";
      text.keeps += "  if (" + lane + " == 0) reinterpret_cast<Partial*>(" + partials + ")[" +
                    step + " * groups + blockIdx.x] = " + place + "[0];\n";
      text.second += "  merge_morsel<" + fold + ">(reinterpret_cast<const Partial*>(" + partials +
                     ") + " + step + " * groups, groups, morsel, reinterpret_cast<Partial*>(" +
                     merged + ") + " + step + " * morsels);\n";
    }
    return text;
  }

  std::string program_kernel_text(int64_t rows_word, int64_t groups_word, size_t reductions,
                                  const ReductionText& text, const std::string& valid_at) const {
    // Rows of each output that are there: by warp, by block of threads, of all.
    std::string counts;
    std::string adds;
    for (int64_t c = 0; c < num_counted_; ++c) {
      const std::string own = "there" + std::to_string(c);
      const std::string place = std::to_string(c);
      counts += "  unsigned " + own + " = 0;\n";
      adds += "  if (lane == 0) atomicAdd(&there_all[" + place + "], " + own + ");\n";
    }
    if (num_counted_ > 0) {
      const std::string size = std::to_string(num_counted_);
      counts += "  __shared__ unsigned there_all[" + size + "];\n  for (int c = threadIdx.x; c < " +
                size + "; c += 256) there_all[c] = 0;\n  __syncthreads();\n";
      adds += "  __syncthreads();\n  for (int c = threadIdx.x; c < " + size +
              "; c += 256) atomicAdd(reinterpret_cast<unsigned long long*>(" + valid_at +
              ") + c, static_cast<unsigned long long>(there_all[c]));\n";
    }
    std::string source =
        "extern \"C\" __global__ void __launch_bounds__(256) program_kernel(const "
        "__grid_constant__ Arguments a) {\n"
        "  const int64_t rows = static_cast<int64_t>(a.word[" +
        std::to_string(rows_word) +
        "]);\n"
        "  const int64_t groups = static_cast<int64_t>(a.word[" +
        std::to_string(groups_word) +
        "]);\n"
        "  const int lane = threadIdx.x & 31;\n"
        "  __shared__ Partial parts[" +
        std::to_string(std::max<size_t>(reductions, 1)) + "][16];\n" + counts +
        "  for (int b = threadIdx.x >> 5; b < 16; b += 8) {\n"
        "    const int64_t first = (static_cast<int64_t>(blockIdx.x) * 16 + b) * 1024;\n"
        "    if (first >= rows) break;\n" +
        text.folds + row_loop(body_ + stores_ + text.takes) + text.ends + "  }\n" + adds;
    if (reductions > 0)
      source +=
          "  const int64_t left = (rows - static_cast<int64_t>(blockIdx.x) * 16384 + 1023) / "
          "1024;\n"
          "  const int blocks = left < 16 ? static_cast<int>(left) : 16;\n"
          "  for (int step = 1; step < 16; step *= 2) {\n    __syncthreads();\n" +
          text.merges + "  }\n" + text.keeps;
    return source + "}\n";
  }

  static std::string merge_kernel_text(int64_t groups_word, const ReductionText& text) {
    return "extern \"C\" __global__ void merge_kernel(const __grid_constant__ Arguments a) {\n"
           "  const int64_t groups = static_cast<int64_t>(a.word[" +
           std::to_string(groups_word) +
           "]);\n"
           "  const int64_t morsels = (groups + 7) / 8;\n"
           "  const int64_t morsel = static_cast<int64_t>(blockIdx.x) * blockDim.x + "
           "threadIdx.x;\n"
           "  if (morsel >= morsels) return;\n" +
           text.second + "}\n";
  }

  std::string text(int64_t rows_word, int64_t groups_word, const std::vector<size_t>& reductions,
                   const std::string& partials, const std::string& merged,
                   const std::string& valid_at) const {
    const ReductionText text = reduction_text(reductions, partials, merged);
    return "struct Arguments { uint64_t word[" + std::to_string(words_.size()) +
           "]; };\n"
           "}  // namespace hr\nusing namespace hr;\n" +
           program_kernel_text(rows_word, groups_word, reductions.size(), text, valid_at) +
           merge_kernel_text(groups_word, text);
  }

  void launch(const char* kernel, const std::string& source, int64_t blocks, unsigned threads,
              DeviceCall& call) {
    static const std::string prelude =
        std::string(kWordsText) + kFunctionsText + kOperationsText + kFoldText;
    void* const function = find_kernel(prelude, source, kernel, place_->index);
    void* arguments[] = {words_.data()};
    const CudaScope on("evaluate", place_->index);
    check_cuda("evaluate",
               cuda_functions()->launch(function, static_cast<unsigned>(blocks), 1, 1, threads, 1,
                                        1, 0, call.stream(), arguments, nullptr));
  }

  const Program& program_;
  std::span<const Value> values_;
  const Shape& shape_;
  int64_t rows_;
  std::vector<bool> needed_;
  std::vector<std::string> valid_;  // by value: whether it is there; empty: it always is
  int64_t groups_;
  int64_t morsels_;
  std::optional<Place> place_;
  std::vector<uint64_t> words_;
  std::map<int, bool> angles_;
  bool has_functions_ = false;
  int64_t num_counted_ = 0;  // outputs that may have nulls
  std::string body_;
  std::string stores_;
};

}  // namespace

std::string why_unsupported(const Program& program, std::span<const Value> inputs,
                            const Shape& shape) {
  const std::vector<bool> needed = needed_values(program);
  for (size_t v = 0; v < program.nodes().size(); ++v) {
    const Node& node = program.nodes()[v];
    if (!needed[v] || (node.op == Op::kInput && !type_of(node.dtype) &&
                       is_tested_for_null(program, needed, static_cast<int>(v))))
      continue;
    if (const char* why = why_unsupported(program, node, inputs, shape)) return why;
  }
  for (const Program::Output& output : program.outputs()) {
    if (output.kind != OutputKind::kReduction) continue;
    if (kernel_of(output.reduction) > Aggregate::kCount)
      return "this aggregate has no kernel for CUDA";
    if (!output.options.skip_null && program.nullable(output.value))
      return "an aggregate that nulls make null has no kernel for CUDA";
    if (!type_of(program.dtype(output.value))) return "this dtype has no kernel for CUDA";
  }
  const auto reductions =
      std::count_if(program.outputs().begin(), program.outputs().end(),
                    [](const auto& output) { return output.kind == OutputKind::kReduction; });
  if (8 * reductions > kThreads) return "too many reductions in one pass for a kernel";
  return why_no_compiler();
}

std::vector<Value> evaluate(const Program& program, std::span<const Value> inputs,
                            const Shape& shape, const std::vector<bool>& partial) {
  return Writer(program, inputs, shape).run(partial);
}

}  // namespace hr::cuda
