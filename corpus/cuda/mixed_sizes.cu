// SPDX-License-Identifier: Apache-2.0 -- image filter on 8-bit pixels with 16-bit, half2, bfloat16, dot-product and 64-bit accumulators: values of every width live at once.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// A 3x3 Sobel gradient of the luma, an 8-bit signed tap filter, and a half-precision tone curve of each pixel.
extern "C" __global__ void mixed_sizes(int width, int height, const uchar4* __restrict__ in, int taps,
                                       half2 gain, __nv_bfloat16 bias, short* __restrict__ gradient,
                                       half2* __restrict__ tone, __nv_bfloat16* __restrict__ level,
                                       signed char* __restrict__ filtered, unsigned long long* __restrict__ energy) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned long long squares = 0;
    if (x < width && y < height) {
        short luma[3][3];
        int packed = 0;
        int dot = 0;
        uchar4 centre = make_uchar4(0, 0, 0, 0);
#pragma unroll
        for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
            for (int dx = -1; dx <= 1; ++dx) {
                const int cx = min(max(x + dx, 0), width - 1), cy = min(max(y + dy, 0), height - 1);
                const uchar4 p = in[(size_t)cy * width + cx];
                luma[dy + 1][dx + 1] = (short)((p.x * 77 + p.y * 150 + p.z * 29) >> 8);
                packed = (p.x ^ 0x80) | (p.y ^ 0x80) << 8 | (p.z ^ 0x80) << 16 | (p.w ^ 0x80) << 24;
                dot = __dp4a(packed, taps, dot);
                if (dx == 0 && dy == 0) centre = p;
            }
        const short gx = (short)(luma[0][2] + 2 * luma[1][2] + luma[2][2] - luma[0][0] - 2 * luma[1][0] - luma[2][0]);
        const short gy = (short)(luma[2][0] + 2 * luma[2][1] + luma[2][2] - luma[0][0] - 2 * luma[0][1] - luma[0][2]);
        const short magnitude = (short)min(abs(gx) + abs(gy), 1023);

        const half2 rg = __floats2half2_rn(centre.x / 255.0f, centre.y / 255.0f);
        const half2 ba = __floats2half2_rn(centre.z / 255.0f, centre.w / 255.0f);
        const half2 one = __float2half2_rn(1.0f);
        const half2 toneRg = __hfma2(__hmul2(rg, gain), __hsub2(one, rg), rg);
        const half2 toneBa = __hfma2(__hmul2(ba, gain), __hsub2(one, ba), ba);
        const half peak = __hmax(__hmax(__low2half(toneRg), __high2half(toneRg)), __low2half(toneBa));

        const size_t at = (size_t)y * width + x;
        gradient[at] = magnitude;
        tone[2 * at] = toneRg;
        tone[2 * at + 1] = toneBa;
        level[at] = __float2bfloat16(__half2float(peak)) + bias * __short2bfloat16_rn(magnitude);
        filtered[at] = (signed char)max(-128, min(127, dot >> 9));
        squares = (unsigned long long)((long long)gx * gx) + (unsigned)(gy * gy);
    }
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) squares += __shfl_down_sync(0xffffffffu, squares, d);
    if (((threadIdx.y * blockDim.x + threadIdx.x) & 31) == 0) atomicAdd(energy, squares);
}
