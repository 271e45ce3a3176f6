// SPDX-License-Identifier: Apache-2.0
// Kernels compiled at run time: NVRTC is opened when the first one is needed, and the machine code
// lies in a folder of the user, by hash, for later processes.
#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/base/shared_library.h"
#include "headrace/memory/device/cuda_device.h"
#include "headrace/plan/eval/kernel_cache.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <unistd.h>
#include <unordered_map>
#include <vector>

namespace hr::cuda {

namespace {

namespace fs = std::filesystem;

struct Compiler {
  int (*version)(int*, int*) = nullptr;
  int (*create)(void**, const char*, const char*, int, const char* const*,
                const char* const*) = nullptr;
  int (*compile)(void*, int, const char* const*) = nullptr;
  int (*code_size)(void*, size_t*) = nullptr;
  int (*code)(void*, char*) = nullptr;
  int (*log_size)(void*, size_t*) = nullptr;
  int (*log)(void*, char*) = nullptr;
  int (*destroy)(void**) = nullptr;
  int major = 0;
  int minor = 0;
};

const Compiler* load_compiler() {
  std::vector<std::string> names{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                 "/usr/local/cuda/lib64/libnvrtc.so"};
  // HEADRACE_NVRTC names a file of it elsewhere.
  if (const char* const path = std::getenv("HEADRACE_NVRTC")) names.insert(names.begin(), path);
  SharedLibrary nvrtc(names);
  static Compiler c;
  nvrtc.load("nvrtcVersion", c.version);
  nvrtc.load("nvrtcCreateProgram", c.create);
  nvrtc.load("nvrtcCompileProgram", c.compile);
  nvrtc.load("nvrtcGetCUBINSize", c.code_size);
  nvrtc.load("nvrtcGetCUBIN", c.code);
  nvrtc.load("nvrtcGetProgramLogSize", c.log_size);
  nvrtc.load("nvrtcGetProgramLog", c.log);
  nvrtc.load("nvrtcDestroyProgram", c.destroy);
  return nvrtc.missing().empty() && c.version(&c.major, &c.minor) == 0 ? &c : nullptr;
}

const Compiler* compiler() {
  static const Compiler* const found = load_compiler();
  return found;
}

std::string target_of(int device) {
  constexpr int kMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
  return "sm_" + std::to_string(cuda_device_attribute(device, kMajor) * 10 +
                                cuda_device_attribute(device, kMajor + 1));
}

constexpr const char* kOptions[] = {"--std=c++20", "--fmad=false", "--device-int128",
                                    "--device-as-default-execution-space"};

// FNV-1a, twice with other beginnings.
std::string hash_of(const std::string& text) {
  uint64_t a = 0xcbf29ce484222325u;
  uint64_t b = 0x9e3779b97f4a7c15u;
  for (const char c : text) {
    a = (a ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
    b = (b ^ static_cast<uint8_t>(c)) * 0x100000001b3u + (b >> 47);
  }
  char hex[33];
  std::snprintf(hex, sizeof hex, "%016llx%016llx", static_cast<unsigned long long>(a),
                static_cast<unsigned long long>(b));
  return hex;
}

// Empty when there is nowhere to keep files.
fs::path cache_folder() {
  if (const char* own = std::getenv("HEADRACE_CACHE")) return *own ? fs::path(own) / "cubin" : "";
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return fs::path(cache) / "headrace" / "cubin";
  if (const char* home = std::getenv("HOME"); home && *home)
    return fs::path(home) / ".cache" / "headrace" / "cubin";
  return "";
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Whole or not at all; a folder that cannot be written is no error.
void write_file(const fs::path& path, const std::string& bytes) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  const fs::path part = path.string() + "." + std::to_string(getpid());
  {
    std::ofstream out(part, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.good()) {
      out.close();
      fs::remove(part, ignored);
      return;
    }
  }
  fs::rename(part, path, ignored);
}

std::string compile(const Compiler& nvrtc, const std::string& source, const std::string& target) {
  void* program = nullptr;
  if (nvrtc.create(&program, source.c_str(), "headrace.cu", 0, nullptr, nullptr) != 0)
    throw_error<InternalError>("evaluate", "NVRTC rejected a source");
  const std::string architecture = "--gpu-architecture=" + target;
  std::vector<const char*> options(std::begin(kOptions), std::end(kOptions));
  options.push_back(architecture.c_str());
  const int status = nvrtc.compile(program, static_cast<int>(options.size()), options.data());
  size_t size = 0;
  std::string code;
  if (status == 0 && nvrtc.code_size(program, &size) == 0 && size > 0) {
    code.resize(size);
    nvrtc.code(program, code.data());
  } else if (nvrtc.log_size(program, &size) == 0 && size > 1) {
    std::string log(size, ' ');
    nvrtc.log(program, log.data());
    nvrtc.destroy(&program);
    throw_error<InternalError>("evaluate", "NVRTC cannot compile a kernel of ours",
                               {{"log", log.substr(0, 2000)}});
  }
  nvrtc.destroy(&program);
  return code;
}

struct Cache {
  std::mutex mutex;
  std::unordered_map<std::string, void*> functions;
  std::map<std::string, void*> modules;
  std::atomic<int64_t> compiled{0};
  std::atomic<int64_t> found{0};
};

Cache& cache() {
  return process_global<Cache>();
}

// A module for the device, or null when these bytes are none.
void* load_module(const std::string& code) {
  void* image = nullptr;
  return !code.empty() && cuda_functions()->load_module(&image, code.data()) == 0 ? image : nullptr;
}

}  // namespace

std::string why_no_compiler() {
  return compiler()
             ? ""
             : "libnvrtc not found: install nvidia-cuda-nvrtc, or set HEADRACE_NVRTC to its path";
}

void* find_kernel(const std::string& prelude, const std::string& text, const char* name,
                  int device) {
  Cache& all = cache();
  const std::lock_guard lock(all.mutex);
  void*& known = all.functions[std::string(name) + "/" + std::to_string(device) + "/" + text];
  if (known) return known;
  const CudaScope on("evaluate", device);
  const Compiler* const nvrtc = compiler();
  const std::string target = target_of(device);
  std::string all_that_matters =
      target + " " + std::to_string(nvrtc->major) + "." + std::to_string(nvrtc->minor);
  for (const char* option : kOptions) all_that_matters += std::string(" ") + option;
  const std::string source = prelude + text;
  const std::string key = hash_of(all_that_matters + "\n" + source);
  void*& image = all.modules[key + "/" + std::to_string(device)];
  if (!image) {
    const fs::path folder = cache_folder();
    const fs::path file = folder / (key + ".cubin");
    if (!folder.empty()) image = load_module(read_file(file));
    if (image) {
      ++all.found;
    } else {
      const std::string code = compile(*nvrtc, source, target);
      ++all.compiled;
      if (!folder.empty()) write_file(file, code);
      image = load_module(code);
    }
    if (!image)
      throw_error<InternalError>("evaluate", "the driver rejected a kernel compiled by NVRTC");
  }
  void* function = nullptr;
  check_cuda("evaluate", cuda_functions()->find_function(&function, image, name));
  return known = function;
}

KernelCacheCounts kernel_cache_counts() {
  return {cache().compiled, cache().found};
}

}  // namespace hr::cuda
