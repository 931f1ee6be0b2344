// Undefined values and guards in the execution judge.

#include "oracles/execution/execution.h"
#include "oracles/execution/testing.h"
#include "oracles/memcheck/memcheck.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing;
using namespace testing::execution;

// Undefined before is a wildcard after. What an operation makes of it is a value like any.
const Pair kUndefinedReads = {side_by_side(R"(
  vreg %0..%1 R b32
  vreg %2 P pred
  vreg %3 R b16
  vreg %4 R b32
  block b0
    #0 %0 = const 1     | R0 = const 1
    #1 %1 = add %0, %4  | R1 = add R0, R7
    #2 st %1, %0 !write | st R1, R0 !write
    #12 %1 = add %0, %4 !remat | R1 = add R0, R7 !remat
    +20                 | R1 = copy R0
    #13 st %1, %0 !write | st R1, R0 !write
    #3 @%2 %0 = const 2 | @P3 R5 = const 2
    +21                 | @P3 spill R5, slot 0
    #4 @%2 use %0       | @P2 use R9
    #5 use %0           | use R5
    #6 %3 = half 1      | R2 = half 1
    #7 %4.lo = half 2   | R3.lo = half 2
    +22                 | R2.h1 = copy R0.h1
    #8 use %3, %4       | use R2, R3
    #9 %0 = ld 1 !read  | R0 = ld 1 !read
    #10 use %0          | use R0
    #11 exit
)")};

TEST(Execution, WhatIsUndefinedBeforeMayBeAnything) {
  expect_pass(kUndefinedReads);
  expect_fail(kUndefinedReads, "#2 st R1, R0", "#2 st R1, R2", kUndefined, 2);
  expect_fail(kUndefinedReads, "#2 st R1, R0", "#2 st R2, R0", kUndefined, 2);
  expect_fail(kUndefinedReads, "#13 st R1, R0", "#13 st R1, R2", kUndefined, 13);
  expect_fail(kUndefinedReads, "#8 use R2, R3", "#8 use R0, R3", kWrong, 8);
}

// %2 has no definition: what an inserted instruction does under it may or may not happen, bit by bit of a pack.
const Pair kPerhaps = {side_by_side(R"(
  vreg %0..%2 P pred
  block b0
    #0 %0 = setp 0     | P0 = setp 0
    #1 %1 = setp 1     | P1 = setp 1
    +20                | R0{inout} = bit_spill P0, 0
    +21                | R0{inout} = bit_spill P1, 3
    #2 @%2 %1 = setp 2 | @P2 P1 = setp 2
    +22                | @P2 R0{inout} = bit_spill P1, 3
    +23                | P3 = bit_refill R0, 0
    #3 use %0          | use P3
    #4 use %1          | use P1
    +24                | R1{inout} = bit_spill P0, 0
    +25                | R1{inout} = bit_spill P0, 5
    +26                | @P2 R0 = copy R1
    +27                | P3 = bit_refill R0, 0
    #5 use %0          | use P3
    #6 exit
)")};

TEST(Execution, WhatMayHaveHappenedKeepsTheBitsThatAgree) {
  expect_pass(kPerhaps);
  expect_fail(kPerhaps, "+23 P3 = bit_refill R0, 0", "+23 P3 = bit_refill R0, 3", kUndefined, 3);
  expect_fail(kPerhaps, "+27 P3 = bit_refill R0, 0", "+27 P3 = bit_refill R0, 5", kUndefined, 5);
  expect_fail(kPerhaps, "+27 P3 = bit_refill R0, 0", "+27 P3 = copy P0\n    +28 @P2 P3 = copy P1", kUndefined, 5);
}

// %2 has no definition, and P0 was never written. Still P0 holds something, the same for the copy and for the store: %1 is %0 in
// either case, because the copy of the program before changes nothing.
const Pair kGuardedTwice = {side_by_side(R"(
  vreg %0..%1 R b32
  vreg %2 P pred
  block b0
    #0 %0 = a           | R0 = a
    +20                 | spill R0, slot 0
    #1 %1 = copy %0     | copy !deleted
    #2 @%2 %1 = copy %0 | @P0 R1 = copy R0
    +21                 | @P0 spill R1, slot 0
    +22                 | R2 = refill slot 0
    #3 st %1, %0 !write | st R2, R0 !write
    #4 exit
)")};

TEST(Execution, ACopyGoesByWhatTheRegisterOfItsUndefinedGuardHolds) {
  expect_pass(kGuardedTwice);
  expect_fail(kGuardedTwice, "+21 @P0", "+21 @!P0", kUndefined, 3);
  expect_fail(kGuardedTwice, "+21 @P0", "+21 @P1", kUndefined, 3);
  expect_fail(kGuardedTwice, "+21 @P0", "+19 P0 = copy P1\n    +21 @P0", kUndefined, 3);
  expect_fail(kGuardedTwice, "#2 @P0 R1 = copy R0", "#2 @P0 R1 = copy R0\n    +19 R1 = copy R5", kUndefined, 3);
}

}  // namespace
}  // namespace regduel::oracles
