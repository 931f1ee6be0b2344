; swifterror and swiftself: registers that calls pass on.
declare swiftcc i32 @callee(i32, ptr swiftself, ptr swifterror)
define swiftcc i32 @pass_on(i32 %a, ptr swiftself %self, ptr swifterror %err) {
  %r = call swiftcc i32 @callee(i32 %a, ptr swiftself %self, ptr swifterror %err)
  %e = load ptr, ptr %err
  %c = icmp eq ptr %e, null
  br i1 %c, label %ok, label %bad
ok:
  %s = call swiftcc i32 @callee(i32 %r, ptr swiftself %self, ptr swifterror %err)
  %t = add i32 %s, %r
  ret i32 %t
bad:
  store ptr %self, ptr %err
  ret i32 %r
}
define swiftcc i32 @own_error(i32 %a, ptr %self) {
  %err = alloca swifterror ptr
  store ptr null, ptr %err
  %r = call swiftcc i32 @callee(i32 %a, ptr swiftself %self, ptr swifterror %err)
  %e = load ptr, ptr %err
  %c = icmp eq ptr %e, null
  %q = select i1 %c, i32 %r, i32 %a
  ret i32 %q
}
