// SPDX-License-Identifier: Apache-2.0
// Gives each file of a folder to a fuzzer's function: what was found once is looked at in every
// test run, with any compiler.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerInitialize(int* count, char*** words);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "%s\n", "usage: headrace_corpus_<stem> FOLDER");
    return 2;
  }
  LLVMFuzzerInitialize(&count, &words);
  int64_t inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(words[1])) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    ++inputs;
  }
  std::printf("%lld inputs\n", static_cast<long long>(inputs));
  return inputs == 0;
}
