// The allocator of this example as a program of its own, which regduel runs:
//
//   regduel duel --random 500 --with exec:/tmp/example/linear_scan,briggs
//
// It links regduel's library of programs, which reads and prints them. --planted-bug: as of property.cpp.
#include <iostream>
#include <string>
#include <string_view>

#include <duel/case_file.h>
#include <ir/text/text.h>

#include "linear_scan.h"
#include "regduel_child.h"

namespace {

namespace duel = regduel::duel;
namespace ir = regduel::ir;

void answer(const regduel_child::Request& request, const example::LinearScan& allocator) {
  const auto input = duel::parse_case(request.text);  // limits and knobs stand in comments
  if (!input) {
    regduel_child::write_frame("unsupported", request.number, input.error().message);
    return;
  }
  ir::AllocOptions options;
  options.limits = input->limits;
  auto result = allocator.allocate(input->program, *input->target, options);
  if (!result) {
    regduel_child::write_frame("unsupported", request.number, result.error().message);
    return;
  }
  ir::Module module;
  module.functions.push_back(std::move(result->program));
  regduel_child::write_frame("allocated", request.number, ir::print(module));
}

}  // namespace

int main(int argc, char** argv) {
  using example::LinearScan;
  const bool is_planted = argc == 2 && std::string_view(argv[1]) == "--planted-bug";
  if (argc > 1 && !is_planted) {
    std::cerr << "usage: linear_scan [--planted-bug]\n";
    return 2;
  }
  const LinearScan allocator(is_planted ? LinearScan::Loops::Forget : LinearScan::Loops::Stretch);
  regduel_child::write_frame("hello", 1, "name: linear-scan\nversion: 1\n");
  for (regduel_child::Request request; regduel_child::read_request(request);) answer(request, allocator);
}
