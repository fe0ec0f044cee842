"""GPUs that do nothing, for the CUDA build of torch on a machine without a GPU.

    python benchmarks/fidelity/idle_gpus.py FOLDER            builds FOLDER/libidle.so
    eval "$(python benchmarks/fidelity/idle_gpus.py FOLDER)"  ... and lets this shell's programs use it

Needs a C compiler, binutils' `nm`, and torch as `pip install torch` gives it on Linux: with CUDA's
libraries and headers.
"""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

LIBRARIES = r"(?:__)?(?:cuda|cublas|cublasLt|cusparse|cusparseLt|cusolver|cufft|cudnn|nccl)[A-Z]\w*"
# They answer truthfully without a GPU.
REAL = re.compile(
    r"cudnnGet(Version|CudartVersion|Property|ErrorString|LastErrorString)|ncclGet(Version|\w*Error\w*)|cublasLtGet\w+"
)
# Functions that hand out a handle: something that is not NULL.
HANDLE = re.compile(r"(cublas|cublasLt|cusparse|cusparseLt|cusolver|cudnn)\w*Create\w*")
# Marks of CUDA's compiler that its headers use; they come with the compiler, which is not needed otherwise.
MARKS = """
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define __host__
#define __device__
#define __device_builtin__
#define __cudart_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
"""
DRIVER = """
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
  *flags = 0, *active = 1;
  return 0;
}
int cuGetErrorString(int error, const char **text) { *text = "none"; return 0; }
"""


def main() -> int:
    """Build the libraries and print the environment that uses them."""
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    spec = find_spec("torch")
    assert spec is not None and spec.submodule_search_locations, "torch is not installed"
    torch = Path(spec.submodule_search_locations[0])
    includes = next(iter(torch.parent.glob("nvidia/*/include/cuda_runtime_api.h"))).parent
    source = Path(__file__).with_name("idle_gpus.c")
    libraries = sorted(torch.glob("lib/*.so"))

    written = set(re.findall(r"\b((?:__)?cuda\w+)\(", source.read_text(encoding="utf-8")))
    wanted = {
        name
        for name in undefined(libraries)
        if re.fullmatch(LIBRARIES, name)
        and name.removesuffix("_v2") not in written  # the header renames
    }
    rest = "".join(map(stub, sorted(name for name in wanted if not REAL.fullmatch(name))))
    (folder / "rest.c").write_text("#include <stdlib.h>\n" + rest, encoding="utf-8")
    (folder / "crt").mkdir(exist_ok=True)
    for name in ("host_defines.h", "host_config.h"):
        (folder / "crt" / name).write_text(MARKS, encoding="utf-8")
    compile_shared(folder / "libidle.so", source, folder / "rest.c", f"-I{includes}", f"-I{folder}")

    driver = {name for name in undefined(libraries) if re.fullmatch(r"cu[A-Z]\w*", name)}
    rest = "".join(
        f"int {name}(void) {{ return 0; }}\n" for name in sorted(driver) if name not in DRIVER
    )
    (folder / "driver.c").write_text(DRIVER + rest, encoding="utf-8")
    compile_shared(folder / "libcuda.so.1", folder / "driver.c")

    print(f"export LD_PRELOAD={folder / 'libidle.so'} LD_LIBRARY_PATH={folder}")
    print("export PYTORCH_NO_CUDA_MEMORY_CACHING=1")  # memory that nobody wrote to reads as zeros
    return 0


def undefined(libraries: list[Path]) -> set[str]:
    """The functions that torch's libraries import from others."""
    command = ["nm", "-D", "--undefined-only", *map(str, libraries)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return set(re.findall(r" U (\w+)", text))


def stub(name: str) -> str:
    """A C function of that name that reports success; cuDNN has no plans of convolutions."""
    if name.startswith("cudnnBackend"):
        return f"int {name}(void) {{ return 3000; }}\n"
    if name.startswith("cudaStreamGetCaptureInfo"):  # its versions differ in what follows
        return f"int {name}(void *stream, int *status) {{ *status = 0; return 0; }}\n"
    if name == "cudnnGetRNNWeightSpaceSize":
        return f"int {name}(void *a, void *b, size_t *size) {{ *size = 65536; return 0; }}\n"
    if HANDLE.fullmatch(name):
        return f"int {name}(void **handle) {{ *handle = calloc(1, 4096); return 0; }}\n"
    return f"int {name}(void) {{ return 0; }}\n"


def compile_shared(target: Path, *arguments: object) -> None:
    """Compile C to a shared library."""
    flags = ["-shared", "-fPIC", "-O1", "-pthread", "-w"]
    subprocess.run(["cc", *flags, "-o", str(target), *map(str, arguments)], check=True)


if __name__ == "__main__":
    sys.exit(main())
