; Odd sizes: vectors of 3, 5 and 7, integers of 17 and 96 bits, undefined lanes, musttail.
define <3 x i32> @three(<3 x i32> %a, <3 x i32> %b) {
  %s = add <3 x i32> %a, %b
  %m = mul <3 x i32> %s, %a
  ret <3 x i32> %m
}
define <5 x float> @five(<5 x float> %a, <5 x float> %b, i32 %k) {
  %s = fadd <5 x float> %a, %b
  %e = extractelement <5 x float> %s, i32 %k
  %i = insertelement <5 x float> %s, float %e, i32 0
  %m = fmul <5 x float> %i, %a
  ret <5 x float> %m
}
define <7 x i16> @seven(<7 x i16> %a, <7 x i16> %b) {
  %c = icmp slt <7 x i16> %a, %b
  %s = select <7 x i1> %c, <7 x i16> %a, <7 x i16> %b
  ret <7 x i16> %s
}
define i96 @ninety_six(i96 %a, i96 %b, i32 %n) {
  %z = zext i32 %n to i96
  %s = shl i96 %a, %z
  %m = mul i96 %s, %b
  ret i96 %m
}
define i17 @seventeen(i17 %a, i17 %b) {
  %d = udiv i17 %a, %b
  %r = urem i17 %a, %b
  %x = xor i17 %d, %r
  ret i17 %x
}
define <4 x i32> @undefined_lanes(i32 %a, i32 %b, i1 %c) {
  br i1 %c, label %one, label %two
one:
  %v1 = insertelement <4 x i32> undef, i32 %a, i32 1
  br label %join
two:
  %v2 = insertelement <4 x i32> undef, i32 %b, i32 2
  br label %join
join:
  %v = phi <4 x i32> [ %v1, %one ], [ %v2, %two ]
  %s = shufflevector <4 x i32> %v, <4 x i32> undef, <4 x i32> <i32 1, i32 undef, i32 2, i32 1>
  ret <4 x i32> %s
}
declare i64 @next(i64, i64, i64)
define i64 @must(i64 %a, i64 %b, i64 %c) {
  %d = sub i64 %b, %a
  %r = musttail call i64 @next(i64 %c, i64 %d, i64 %a)
  ret i64 %r
}
