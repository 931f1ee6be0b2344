; Exceptions: values that a landing pad reads, in registers and in memory, over invokes that define and that do not.
declare i32 @__gxx_personality_v0(...)
declare i32 @may_throw(i32)
declare void @take(i32, i32)

define i32 @caught(i32 %a, i32 %b) personality ptr @__gxx_personality_v0 {
entry:
  %x = add i32 %a, %b
  %r = invoke i32 @may_throw(i32 %x) to label %next unwind label %pad
next:
  %s = invoke i32 @may_throw(i32 %r) to label %done unwind label %pad
done:
  %t = mul i32 %s, %x
  ret i32 %t
pad:
  %v = phi i32 [ %x, %entry ], [ %r, %next ]
  %lp = landingpad { ptr, i32 } catch ptr null
  %sel = extractvalue { ptr, i32 } %lp, 1
  %w = add i32 %v, %sel
  ret i32 %w
}

define i32 @kept_over(i32 %a, i32 %b, i32 %c) personality ptr @__gxx_personality_v0 {
entry:
  %x = mul i32 %a, %b
  %y = sub i32 %b, %c
  %r = invoke i32 @may_throw(i32 %c) to label %next unwind label %pad
next:
  %n = add i32 %r, %y
  ret i32 %n
pad:
  %lp = landingpad { ptr, i32 } cleanup
  call void @take(i32 %x, i32 %y)
  resume { ptr, i32 } %lp
}

define i32 @in_a_loop(i32 %n) personality ptr @__gxx_personality_v0 {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %cont ], [ %k2, %pad ]
  %s = phi i32 [ 0, %entry ], [ %s1, %cont ], [ %s2, %pad ]
  %d = icmp eq i32 %k, %n
  br i1 %d, label %out, label %body
body:
  %r = invoke i32 @may_throw(i32 %s) to label %cont unwind label %pad
cont:
  %k1 = add i32 %k, 1
  %s1 = add i32 %s, %r
  br label %loop
pad:
  %lp = landingpad { ptr, i32 } catch ptr null
  %sel = extractvalue { ptr, i32 } %lp, 1
  %k2 = add i32 %k, 2
  %s2 = xor i32 %s, %sel
  br label %loop
out:
  ret i32 %s
}
