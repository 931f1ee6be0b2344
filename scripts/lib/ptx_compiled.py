"""PTX from compilers, for scripts/ptx-sweep: nvcc on corpus/cuda and on algorithms of CUB and Thrust, clang-19 on corpus/llvm.

`files` makes what the compilers that are there can make. A source that one of them cannot compile is left out.
"""

import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
NVCC_TARGETS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")

CUB = r"""
#include <cub/cub.cuh>
using T = %TYPE%;
__global__ void block_sort(T* data) {
  using Load = cub::BlockLoad<T, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<T, 128, 4>;
  using Store = cub::BlockStore<T, 128, 4, cub::BLOCK_STORE_TRANSPOSE>;
  __shared__ union { typename Load::TempStorage load; typename Sort::TempStorage sort; typename Store::TempStorage store; } shared;
  T items[4];
  Load(shared.load).Load(data, items); __syncthreads();
  Sort(shared.sort).Sort(items); __syncthreads();
  Store(shared.store).Store(data, items);
}
__global__ void block_scan(T* data, T* sums) {
  using Scan = cub::BlockScan<T, 256>;
  using Reduce = cub::BlockReduce<T, 256>;
  using WarpReduce = cub::WarpReduce<T>;
  __shared__ union { typename Scan::TempStorage scan; typename Reduce::TempStorage reduce; typename WarpReduce::TempStorage warp[8]; } shared;
  T value = data[threadIdx.x], prefix, sum;
  Scan(shared.scan).InclusiveSum(value, prefix); __syncthreads();
  sum = Reduce(shared.reduce).Sum(value); __syncthreads();
  sum += WarpReduce(shared.warp[threadIdx.x / 32]).Sum(prefix);
  data[threadIdx.x] = prefix; if (threadIdx.x == 0) *sums = sum;
}
"""
THRUST = r"""
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/%HEADER%.h>
void run(%TYPE%* p, int n) { thrust::device_ptr<%TYPE%> d(p); thrust::%CALL%; }
"""
THRUST_CALLS = (("sort", "sort(d, d + n)"), ("scan", "inclusive_scan(d, d + n, d)"), ("reduce", "reduce(d, d + n)"),
                ("unique", "unique(d, d + n)"), ("partition", "partition(d, d + n, [] __device__(%TYPE% x) { return x > 3; })"))
CLANG = ("clang-19", "--target=nvptx64", "-O2", "-S", "-nostdlib", "-ffreestanding")


def run(command):
    return subprocess.run(command, capture_output=True, text=True).returncode == 0


def from_nvcc(folder, sources):
    for k, source in enumerate(sources):
        target = NVCC_TARGETS[k % len(NVCC_TARGETS)]
        path = folder / f"{source.stem}_{target}.ptx"
        if run(["nvcc", "-std=c++17", "--extended-lambda", f"-arch={target}", "-ptx", "-o", path, source]):
            yield path, target


def cuda_sources(folder):
    yield from sorted((ROOT / "corpus/cuda").glob("*.cu"))
    for name in ("int", "double", "unsigned char"):
        path = folder / f"cub_{name.replace(' ', '_')}.cu"
        path.write_text(CUB.replace("%TYPE%", name))
        yield path
    for header, call in THRUST_CALLS:
        path = folder / f"thrust_{header}.cu"
        path.write_text(THRUST.replace("%HEADER%", header).replace("%CALL%", call).replace("%TYPE%", "float"))
        yield path


def from_clang(folder):
    for k, source in enumerate(sorted([*(ROOT / "corpus/llvm/c").glob("*.c"), *(ROOT / "corpus/llvm").rglob("*.cl")])):
        target = ("sm_75", "sm_90")[k % 2]
        path = folder / f"clang_{source.stem}.ptx"
        version = ["-Xclang", "-target-feature", "-Xclang", "+ptx80"]
        if run([*CLANG, *version, f"-march={target}", "-o", path, source]):
            yield path, target


def files(folder):
    """(path, target) of each."""
    if shutil.which("nvcc"):
        yield from from_nvcc(folder, cuda_sources(folder))
    if shutil.which("clang-19"):
        yield from from_clang(folder)
