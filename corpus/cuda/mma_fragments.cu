// SPDX-License-Identifier: Apache-2.0 -- gemms by mma: 8x4 tiles of sums a warp live through the loop, the fragments of the next step are read ahead.
// C = A * B, A row-major and B column-major; m a multiple of 256, n of 64, k of a row of a tile. Block: 128 threads, two by two warps, grid: (n/64, m/256).
constexpr int ROWS = 8, COLS = 4;
constexpr int BM = 2 * ROWS * 16, BN = 2 * COLS * 8;
constexpr int BK = 32;        // words of a row of a tile
constexpr int LD = BK + 4;    // words between rows
constexpr int STEPS = BK / 8; // 8 words a step, whatever they hold

enum class Kind { F16, BF16, TF32, S8 };

template <Kind K>
__device__ __forceinline__ void mma(unsigned (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#define MMA(shape)                                                                                              \
    asm volatile("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"   \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                               \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
    if (K == Kind::F16) MMA("m16n8k16.row.col.f32.f16.f16.f32");
    if (K == Kind::BF16) MMA("m16n8k16.row.col.f32.bf16.bf16.f32");
    if (K == Kind::TF32) MMA("m16n8k8.row.col.f32.tf32.tf32.f32");
    if (K == Kind::S8) MMA("m16n8k32.row.col.s32.s8.s8.s32");
#undef MMA
}

// n and k in words.
template <Kind K>
__device__ __forceinline__ void gemm(int n, int k, const unsigned* __restrict__ A, const unsigned* __restrict__ B,
                                     unsigned* __restrict__ C) {
    extern __shared__ __align__(16) unsigned tiles[];
    unsigned* const As = tiles;                // BM rows
    unsigned* const Bs = tiles + BM * LD;      // BN columns
    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    const int warpRow = (warp / 2) * ROWS * 16, warpCol = (warp % 2) * COLS * 8;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int g = lane / 4, t = lane % 4;

    unsigned sum[ROWS][COLS][4] = {};
    unsigned a[2][ROWS][4], b[2][COLS][2];
    auto read = [&](int buffer, int step) {
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            const unsigned* const row = As + (warpRow + i * 16 + g) * LD + step * 8 + t;
            a[buffer][i][0] = row[0];
            a[buffer][i][1] = row[8 * LD];
            a[buffer][i][2] = row[4];
            a[buffer][i][3] = row[8 * LD + 4];
        }
#pragma unroll
        for (int j = 0; j < COLS; ++j) {
            const unsigned* const column = Bs + (warpCol + j * 8 + g) * LD + step * 8 + t;
            b[buffer][j][0] = column[0];
            b[buffer][j][1] = column[4];
        }
    };
    for (int k0 = 0; k0 < k; k0 += BK) {
        for (int at = tid * 4; at < BM * BK; at += 128 * 4)
            *(uint4*)&As[at / BK * LD + at % BK] = *(const uint4*)&A[(size_t)(row0 + at / BK) * k + k0 + at % BK];
        for (int at = tid * 4; at < BN * BK; at += 128 * 4)
            *(uint4*)&Bs[at / BK * LD + at % BK] = *(const uint4*)&B[(size_t)(col0 + at / BK) * k + k0 + at % BK];
        __syncthreads();
        read(0, 0);
#pragma unroll
        for (int step = 0; step < STEPS; ++step) {
            if (step + 1 < STEPS) read((step + 1) % 2, step + 1);
#pragma unroll
            for (int i = 0; i < ROWS; ++i)
#pragma unroll
                for (int j = 0; j < COLS; ++j) mma<K>(sum[i][j], a[step % 2][i], b[step % 2][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
#pragma unroll
        for (int j = 0; j < COLS; ++j) {
            unsigned* const to = C + (size_t)(row0 + warpRow + i * 16 + g) * n + col0 + warpCol + j * 8 + 2 * t;
            *(uint2*)to = make_uint2(sum[i][j][0], sum[i][j][1]);
            *(uint2*)(to + 8 * (size_t)n) = make_uint2(sum[i][j][2], sum[i][j][3]);
        }
}

extern "C" __global__ void mma_8x4_f16(int n, int k, const unsigned* A, const unsigned* B, unsigned* C) {
    gemm<Kind::F16>(n, k, A, B, C);
}

extern "C" __global__ void mma_8x4_bf16(int n, int k, const unsigned* A, const unsigned* B, unsigned* C) {
    gemm<Kind::BF16>(n, k, A, B, C);
}

extern "C" __global__ void mma_8x4_tf32(int n, int k, const unsigned* A, const unsigned* B, unsigned* C) {
    gemm<Kind::TF32>(n, k, A, B, C);
}

extern "C" __global__ void mma_8x4_s8(int n, int k, const unsigned* A, const unsigned* B, unsigned* C) {
    gemm<Kind::S8>(n, k, A, B, C);
}
