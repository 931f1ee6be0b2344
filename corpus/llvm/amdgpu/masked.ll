; Whole-wave operations, readfirstlane, structured loops of lanes.
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.strict.wwm.i32(i32)
declare i32 @llvm.amdgcn.set.inactive.i32(i32, i32)
define amdgpu_kernel void @uniform_loop(ptr addrspace(1) %p, i32 %n) {
entry:
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %u = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %id)
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %s = phi i32 [ %id, %entry ], [ %s1, %loop ]
  %m = mul i32 %s, %u
  %s1 = add i32 %m, %k
  %k1 = add i32 %k, 1
  %c = icmp slt i32 %k1, %n
  br i1 %c, label %loop, label %out
out:
  %a = getelementptr i32, ptr addrspace(1) %p, i32 %id
  store i32 %s1, ptr addrspace(1) %a
  ret void
}
define amdgpu_kernel void @whole_wave(ptr addrspace(1) %p, i32 %v) {
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %i = call i32 @llvm.amdgcn.set.inactive.i32(i32 %id, i32 0)
  %w = call i32 @llvm.amdgcn.strict.wwm.i32(i32 %i)
  %x = add i32 %w, %v
  %a = getelementptr i32, ptr addrspace(1) %p, i32 %id
  store i32 %x, ptr addrspace(1) %a
  ret void
}
