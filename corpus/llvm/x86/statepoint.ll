; Garbage-collected pointers over calls: statepoints name every one that lives, in registers or in memory.
target triple = "x86_64-pc-linux-gnu"
declare void @collect()
declare i32 @compute(i32)
declare token @llvm.experimental.gc.statepoint.p0(i64 immarg, i32 immarg, ptr, i32 immarg, i32 immarg, ...)
declare ptr addrspace(1) @llvm.experimental.gc.relocate.p1(token, i32 immarg, i32 immarg)
declare i32 @llvm.experimental.gc.result.i32(token)

define ptr addrspace(1) @two_over_a_call(ptr addrspace(1) %a, ptr addrspace(1) %b, i1 %c) gc "statepoint-example" {
  %t = call token (i64, i32, ptr, i32, i32, ...) @llvm.experimental.gc.statepoint.p0(i64 0, i32 0, ptr elementtype(void ()) @collect, i32 0, i32 0, i32 0, i32 0) ["gc-live"(ptr addrspace(1) %a, ptr addrspace(1) %b)]
  %x = call ptr addrspace(1) @llvm.experimental.gc.relocate.p1(token %t, i32 0, i32 0)
  %y = call ptr addrspace(1) @llvm.experimental.gc.relocate.p1(token %t, i32 1, i32 1)
  %s = select i1 %c, ptr addrspace(1) %x, ptr addrspace(1) %y
  ret ptr addrspace(1) %s
}

define i32 @result_and_pointers(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %n) gc "statepoint-example" {
  %t = call token (i64, i32, ptr, i32, i32, ...) @llvm.experimental.gc.statepoint.p0(i64 0, i32 0, ptr elementtype(i32 (i32)) @compute, i32 1, i32 0, i32 %n, i32 0, i32 0) ["gc-live"(ptr addrspace(1) %a, ptr addrspace(1) %b), "deopt"(i32 %n)]
  %r = call i32 @llvm.experimental.gc.result.i32(token %t)
  %x = call ptr addrspace(1) @llvm.experimental.gc.relocate.p1(token %t, i32 0, i32 0)
  %y = call ptr addrspace(1) @llvm.experimental.gc.relocate.p1(token %t, i32 1, i32 1)
  store i32 %r, ptr addrspace(1) %x
  %v = load i32, ptr addrspace(1) %y
  %s = add i32 %v, %n
  ret i32 %s
}
