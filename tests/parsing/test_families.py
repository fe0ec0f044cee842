"""kb/families.toml: each rule's examples get its family."""

from __future__ import annotations

from typing import Any

import pytest
from parsing.knowledge import KB, families, parse

from diagnose._toml import loads
from diagnose.parsing.families import Families
from diagnose.parsing.lines import Peeled

RULES: list[dict[str, Any]] = loads((KB / "families.toml").read_text())["rule"]
EXAMPLES = [
    (r["id"], r["family"], e, "line" in r.get("types", ()))
    for r in RULES
    for e in r.get("examples", ())
]
READER = Families(families())


@pytest.mark.parametrize(
    ("rule", "family", "example", "line"), EXAMPLES, ids=[e[2][:40] for e in EXAMPLES]
)
def test_example(rule: str, family: str, example: str, line: bool) -> None:
    if line:
        told = READER.of_lines([Peeled(1, example)])
        assert told is not None
        assert told[0] == family
    else:
        kind, _, message = example.partition(": ")
        assert READER.of_error(kind, message)[0] == family


def test_every_pattern_has_an_example() -> None:
    assert [rule["id"] for rule in RULES if "pattern" in rule and not rule.get("examples")] == []


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("ModuleNotFoundError: No module named 'deepspeed'", "missing-module"),
        ("KeyError: 'warmup_steps'", "missing-name"),
        ("AttributeError: 'NoneType' object has no attribute 'shape'", "missing-name"),
        ("ZeroDivisionError: float division by zero", "division-by-zero"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'a.yaml'", "missing-file"),
        ("PermissionError: [Errno 13] Permission denied: '/var/log'", "permission"),
        ("AssertionError", "assertion"),
        ("MemoryError", "host-out-of-memory"),
        ("IndexError: index out of range in self", "bad-value"),
        ("requests.exceptions.ConnectionError: HTTPSConnectionPool(host='x', port=443)", "network"),
        ("RuntimeError: something nobody has ever seen", "other"),
    ],
)
def test_families_of_common_errors(text: str, family: str) -> None:
    error = parse(
        f'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\n{text}'
    ).error
    assert error is not None
    assert error.family == family


@pytest.mark.parametrize(
    "log",
    [
        " iteration 10/ 500 | lm loss: 1.2E+00 | loss scale: 1.0 | number of nan iterations: 0 |",
        "NCCL INFO Setting NCCL error handling\nepoch 1 done\nno errors found",
        "INFO device_map='auto' placed the model on cuda:0 and cuda:1",
        "Some parameters are on the meta device because they were offloaded to the cpu.",
        "0 errors, 3 warnings\nError rate: 0.02\nValidationError count 0",
        "",
        "\n\n\n",
    ],
)
def test_healthy_logs_hold_no_error(log: str) -> None:
    assert parse(log).error is None


#: Errors as their tools word them: at least five a family.
ERRORS = {
    "gpu-out-of-memory": [
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacity of 23.64 GiB of which 12.00 MiB is free.",
        "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 191.98 GiB",
        "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 2.00 GiB.",
        "RuntimeError: NPU out of memory. Tried to allocate 512.00 MiB (NPU 0; 60.97 GiB total capacity)",
        "RuntimeError: CUDA error: out of memory",
        "RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
        "ValueError: Free memory on device cuda:0 (20.1/79.1 GiB) on startup is less than desired GPU memory utilization (0.9, 71.2 GiB).",
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4294967296 bytes.",
    ],
    "host-out-of-memory": [
        "MemoryError",
        "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 29.8 GiB for an array with shape (4000000000,) and data type float64",
        "RuntimeError: [enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 17179869184 bytes. Error code 12 (Cannot allocate memory)",
        "RuntimeError: [enforce fail at CPUAllocator.cpp:68] . DefaultCPUAllocator: can't allocate memory",
        "OSError: [Errno 12] Cannot allocate memory",
        "OSError: [WinError 1455] The paging file is too small for this operation to complete.",
        "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
        "RuntimeError: unable to mmap 4294967296 bytes from file </dev/shm/torch_1>: Cannot allocate memory (12)",
    ],
    "collective-communication": [
        "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:275, internal error - please report this issue to the NCCL developers",
        "torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to connect to (10.0.0.1, 29500).",
        "torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. 1/2 clients joined.",
        "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete",
        "RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error",
        "RuntimeError: The server socket has failed to listen on any local network address. The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use).",
        "ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable RANK expected, but not set",
        "RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=4, OpType=ALLREDUCE, TensorShape=[10])",
        "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError",
        "RuntimeError: Rank 3 successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank 1.",
    ],
    "gpu-runtime": [
        "RuntimeError: CUDA error: device-side assert triggered",
        "torch.AcceleratorError: CUDA error: device-side assert triggered",
        "RuntimeError: CUDA error: an illegal memory access was encountered",
        "RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm( handle, opa, opb, m, n, k)`",
        "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
        "RuntimeError: CUDA error: unspecified launch failure",
        "RuntimeError: CUDA error: uncorrectable ECC error encountered",
        "RuntimeError: HIP error: invalid argument",
        "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
        "RuntimeError: cuFFT error: CUFFT_INTERNAL_ERROR",
        "RuntimeError: Triton Error [CUDA]: misaligned address",
        "RuntimeError: FIND was unable to find an engine to execute this computation",
        "torch._C._LinAlgError: cusolver error: CUSOLVER_STATUS_EXECUTION_FAILED",
    ],
    "gpu-setup": [
        "AssertionError: Torch not compiled with CUDA enabled",
        "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx",
        "RuntimeError: The NVIDIA driver on your system is too old (found version 11040).",
        "RuntimeError: CUDA error: no kernel image is available for execution on the device",
        "RuntimeError: No CUDA GPUs are available",
        "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method",
        "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 802: system not yet initialized",
        "ValueError: Your setup doesn't support bf16/gpu. You need torch>=1.10, using Ampere GPU with cuda>=11.0",
        "OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.",
        "ValueError: FP16 Mixed precision training with AMP or APEX (`--fp16`) and FP16 half precision evaluation (`--fp16_full_eval`) can only be used on CUDA devices.",
        "RuntimeError: CUDA driver initialization failed, you might not have a CUDA gpu.",
        "lightning.fabric.utilities.exceptions.MisconfigurationException: No supported gpu backend found!",
    ],
    "shape-mismatch": [
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x512 and 768x10)",
        "RuntimeError: The size of tensor a (77) must match the size of tensor b (154) at non-singleton dimension 1",
        "ValueError: operands could not be broadcast together with shapes (3,4) (4,3)",
        "RuntimeError: shape '[8, 16, 64]' is invalid for input of size 4096",
        "RuntimeError: Sizes of tensors must match except in dimension 1. Expected size 32 but got size 31 for tensor number 1 in the list.",
        "ValueError: Expected input batch_size (64) to match target batch_size (32).",
        "RuntimeError: Calculated padded input size per channel: (2 x 2). Kernel size: (3 x 3). Kernel size can't be greater than actual input size",
        "ValueError: Using a target size (torch.Size([8])) that is different to the input size (torch.Size([8, 1])) is deprecated. Please ensure they have the same size.",
        "IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)",
        "RuntimeError: einsum(): subscript i has size 4 for operand 1 which does not broadcast with previously seen size 3",
        "AssertionError: embed_dim must be divisible by num_heads",
        "RuntimeError: Tensors must have same number of dimensions: got 3 and 2",
    ],
    "dtype-mismatch": [
        "RuntimeError: mat1 and mat2 must have the same dtype, but got Float and Half",
        "RuntimeError: expected scalar type Long but found Float",
        "RuntimeError: Input type (torch.FloatTensor) and weight type (torch.HalfTensor) should be the same",
        "RuntimeError: Input type (float) and bias type (c10::Half) should be the same",
        "RuntimeError: \"LayerNormKernelImpl\" not implemented for 'Half'",
        "RuntimeError: result type Float can't be cast to the desired output type Long",
        "RuntimeError: Index put requires the source and destination dtypes match, got Half for the destination and Float for the source.",
        "ValueError: Attempting to unscale FP16 gradients.",
        "TypeError: can't convert np.ndarray of type numpy.object_. The only supported types are: float64, float32, float16",
        "RuntimeError: expected m1 and m2 to have the same dtype, but got: float != c10::BFloat16",
        "RuntimeError: a Long tensor was expected: indices must be Long or Int, got torch.FloatTensor instead (dtype mismatch)",
        "RuntimeError: FlashAttention only support fp16 and bf16 data type",
        "TypeError: Got unsupported ScalarType BFloat16",
        "RuntimeError: Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.FloatTensor instead (while checking arguments for embedding)",
    ],
    "missing-module": [
        "ModuleNotFoundError: No module named 'flash_attn'",
        "ImportError: cannot import name 'LlamaFlashAttention2' from 'transformers.models.llama.modeling_llama'",
        "ImportError: Using `low_cpu_mem_usage=True` or a `device_map` requires Accelerate: `pip install 'accelerate>=0.26.0'`",
        "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory",
        "ImportError: attempted relative import with no known parent package",
        "importlib.metadata.PackageNotFoundError: No package metadata was found for bitsandbytes",
        "ImportError: This modeling file requires the following packages that were not found in your environment: einops. Run `pip install einops`",
    ],
    "missing-name": [
        "KeyError: 'input_ids'",
        "AttributeError: 'NoneType' object has no attribute 'to'",
        "NameError: name 'tokenizer' is not defined",
        "UnboundLocalError: local variable 'loss' referenced before assignment",
        "omegaconf.errors.ConfigAttributeError: Key 'optim' is not in struct",
        "torch.nn.modules.module.ModuleAttributeError: 'Linear' object has no attribute 'weights'",
    ],
    "bad-value": [
        "ValueError: You should supply an encoding or a list of encodings to this method that includes input_ids, but you provided ['label']",
        "IndexError: index out of range in self",
        "IndexError: list index out of range",
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'",
        "ValueError: Asking to pad but the tokenizer does not have a padding token.",
        "yaml.scanner.ScannerError: mapping values are not allowed here",
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for TrainConfig",
        "RuntimeError: Class values must be smaller than num_classes.",
        "ValueError: Unrecognized configuration class <class 'transformers.models.x.XConfig'> for this kind of AutoModel",
        "UnicodeDecodeError: 'utf-8' codec can't decode byte 0x80 in position 0: invalid start byte",
    ],
    "missing-file": [
        "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.jsonl'",
        "OSError: ./checkpoints/llama does not appear to have a file named config.json.",
        "OSError: Error no file named pytorch_model.bin, model.safetensors found in directory ./out.",
        "IsADirectoryError: [Errno 21] Is a directory: '/data/model'",
        "AssertionError: checkpoint path /data/x.pt does not exist",
        "NotADirectoryError: [Errno 20] Not a directory: 'a/b'",
        "datasets.exceptions.DataFilesNotFoundError: No (supported) data files found in my/dataset",
    ],
    "permission": [
        "PermissionError: [Errno 13] Permission denied: '/data/out'",
        "OSError: [Errno 30] Read-only file system: '/mnt/ckpt'",
        "PermissionError: [WinError 5] Access is denied: 'C:\\\\cache'",
        "RuntimeError: Operation not permitted",
        "PermissionError: [Errno 1] Operation not permitted",
    ],
    "network": [
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded with url: /api",
        "OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files.",
        "huggingface_hub.errors.GatedRepoError: 403 Client Error. (Request ID: Root=1)",
        "huggingface_hub.errors.LocalEntryNotFoundError: Cannot find an appropriate cached snapshot folder for the specified revision on the local disk",
        "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",
        "requests.exceptions.SSLError: HTTPSConnectionPool(host='x', port=443): Max retries exceeded (certificate verify failed)",
        "ConnectionRefusedError: [Errno 111] Connection refused",
        "wandb.errors.CommError: Error communicating with wandb process",
        "httpx.ConnectError: [Errno 101] Network is unreachable",
        "OSError: You are trying to access a gated repo.",
        "TimeoutError: [Errno 110] Connection timed out",
    ],
    "data-loading": [
        "RuntimeError: DataLoader worker (pid(s) 4711, 4712) exited unexpectedly",
        "RuntimeError: DataLoader worker (pid 91) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.",
        "RuntimeError: stack expects each tensor to be equal size, but got [3, 224, 224] at entry 0 and [1, 224, 224] at entry 1",
        "TypeError: default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found <class 'PIL.Image.Image'>",
        "RuntimeError: Trying to resize storage that is not resizable",
        "RuntimeError: unable to open shared memory object </torch_91_2> in read-write mode: Too many open files (24)",
        "RuntimeError: received 0 items of ancdata",
        "ValueError: num_samples should be a positive integer value, but got num_samples=0",
        "RuntimeError: Pin memory thread exited unexpectedly",
    ],
    "extension-build": [
        "RuntimeError: Error building extension 'fused_adam'",
        "subprocess.CalledProcessError: Command '['ninja', '-v']' returned non-zero exit status 1.",
        "RuntimeError: Ninja is required to load C++ extensions",
        "ImportError: /root/.cache/torch_extensions/py310_cu121/cpu_adam/cpu_adam.so: cannot open shared object file: No such file or directory",
        "RuntimeError: The detected CUDA version (12.4) mismatches the version that was used to compile PyTorch (11.8). Please make sure to use the same CUDA versions.",
        "ImportError: /opt/lib/flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so: undefined symbol: _ZN3c104cuda9SetDeviceEi",
        "RuntimeError: Failed to find C compiler. Please specify via CC environment variable.",
        "deepspeed.ops.op_builder.builder.CUDAMismatchException: >- DeepSpeed Op Builder: Installed CUDA version 12.4 does not match the version torch was compiled with 11.8",
        "torch._inductor.exc.CppCompileError: C++ compile error",
    ],
    "autograd": [
        "RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed).",
        "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [torch.FloatTensor [3]]",
        "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
        "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.",
        "RuntimeError: Expected to mark a variable ready only once.",
        "RuntimeError: grad can be implicitly created only for scalar outputs",
        "RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
        "torch.utils.checkpoint.CheckpointError: torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward pass.",
    ],
    "not-a-number": [
        "RuntimeError: Function 'MulBackward0' returned nan values in its 0th output.",
        "ValueError: The loss returned in `training_step` is nan.",
        "ValueError: Input contains NaN, infinity or a value too large for dtype('float64').",
        "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0",
        "AssertionError: found NaN in local grad norm in backward pass before data-parallel communication collective.",
        "FloatingPointError: Loss became infinite or NaN at iteration=12!",
        "RuntimeError: The total norm of order 2.0 for gradients from `parameters` is non-finite, so it cannot be clipped.",
        "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.",
    ],
    "serialization": [
        "RuntimeError: Error(s) in loading state_dict for GPT2LMHeadModel:",
        "_pickle.UnpicklingError: invalid load key, '<'.",
        "_pickle.UnpicklingError: Weights only load failed. In PyTorch 2.6, we changed the default value of the `weights_only` argument",
        "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
        "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge",
        "AttributeError: Can't pickle local object 'main.<locals>.<lambda>'",
        "TypeError: cannot pickle '_thread.lock' object",
        "EOFError: Ran out of input",
        "ValueError: loaded state dict contains a parameter group that doesn't match the size of optimizer's group",
        "RuntimeError: [enforce fail at inline_container.cc:603] . unexpected pos 1472 vs 1366",
        "TypeError: Object of type Tensor is not JSON serializable",
    ],
    "version-api": [
        "TypeError: Trainer.__init__() got an unexpected keyword argument 'tokenizer'",
        "AttributeError: module 'numpy' has no attribute 'bool'.",
        "RuntimeError: operator torchvision::nms does not exist",
        "TypeError: forward() missing 1 required positional argument: 'position_embeddings'",
        "ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header, got 88 from PyObject",
        "pkg_resources.VersionConflict: (numpy 2.0.0 (/opt/lib), Requirement.parse('numpy<2'))",
        "AttributeError: module 'torch' has no attribute 'float8_e8m0fnu'",
        "TypeError: Descriptors cannot not be created directly. If this call came from a _pb2.py file, your generated code is out of date",
        "RuntimeError: Detected that PyTorch and torchvision were compiled with different CUDA major versions.",
        "RuntimeError: Couldn't load custom C++ ops. This can happen if your PyTorch and torchvision versions are incompatible",
    ],
    "assertion": [
        "AssertionError",
        "AssertionError: expected at least one prompt",
        "AssertionError: micro batch size is not set",
        "AssertionError: loss 0.2 is above the bound",
        "AssertionError: assert 3 == 4",
    ],
    "division-by-zero": [
        "ZeroDivisionError: division by zero",
        "ZeroDivisionError: float division by zero",
        "ZeroDivisionError: integer division or modulo by zero",
        "ZeroDivisionError: integer modulo by zero",
        "decimal.DivisionByZero: [<class 'decimal.DivisionByZero'>]",
    ],
    "crash": [
        "torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with signal SIGSEGV",
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process 4711 got signal: 15",
        "concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly while the future was running or pending.",
        "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.",
        "subprocess.CalledProcessError: Command '['python', 'train.py']' died with <Signals.SIGKILL: 9>.",
        "ray.exceptions.WorkerCrashedError: The worker died unexpectedly while executing this task.",
    ],
    "other": [
        "KeyboardInterrupt",
        "OSError: [Errno 28] No space left on device",
        "RecursionError: maximum recursion depth exceeded",
        "RuntimeError: something nobody has ever seen",
        "OSError: [Errno 122] Disk quota exceeded",
    ],
}

#: What kernels, shells, schedulers and native code print of a failure that raised no exception.
EVENTS = {
    "host-out-of-memory": [
        "slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0. Some of the step tasks have been OOM Killed.",
        "srun: error: node01: task 3: Out Of Memory",
        "Memory cgroup out of memory: Killed process 4711 (python) total-vm:8123456kB",
        "    Reason:       OOMKilled\n    Exit Code:    137",
        "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\nAborted (core dumped)",
        "[ 4711.25] python invoked oom-killer: gfp_mask=0x100cca, order=0",
    ],
    "crash": [
        "Segmentation fault (core dumped)",
        "[1]    4711 segmentation fault (core dumped)  python train.py",
        "srun: error: node01: task 0: Segmentation fault",
        "Bus error (core dumped)",
        "./run.sh: line 3:  4711 Killed                  python train.py",
        "free(): invalid pointer\nAborted (core dumped)",
        "double free or corruption (!prev)",
        "Illegal instruction (core dumped)",
        'Fatal Python error: Segmentation fault\n\nThread 0x00007f (most recent call first):\n  File "a.py", line 3 in f',
        "Process finished with exit code 139 (interrupted by signal 11: SIGSEGV)",
    ],
    "collective-communication": [
        "[rank1]:[E516 10:00:00.1 ProcessGroupNCCL.cpp:632] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1800012 milliseconds before timing out.\nterminate called after throwing an instance of 'c10::DistBackendError'\n  what():  [PG ID 0 Rank 1] Process group watchdog thread terminated with exception\nAborted (core dumped)",
        "node01:40:81 [0] NCCL WARN NET/IB : Got completion from peer with error 12",
        "[E ProcessGroupNCCL.cpp:737] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted data.",
        "node01:40:81 [0] transport/net_ib.cc:296 NCCL WARN Call to ibv_modify_qp failed with error Invalid argument",
        "node01:40:81 [1] NCCL WARN socketProgress: Connection closed by remote peer node02, error",
    ],
    "gpu-runtime": [
        "terminate called after throwing an instance of 'c10::Error'\n  what():  CUDA error: an illegal memory access was encountered\nAborted (core dumped)",
        "[ 4711.2] NVRM: Xid (PCI:0000:3b:00): 31, pid=4711, MMU Fault",
        "/pytorch/aten/src/ATen/native/cuda/Loss.cu:245: nll_loss_forward_reduce_cuda_kernel_2d: block: [0,0,0], thread: [0,0,0] Assertion `t >= 0 && t < n_classes` failed.\nCUDA error: device-side assert triggered",
        "CUDA error 700 at kernel.cu:40: an illegal memory access was encountered",
        "step 7: CUDA error: unspecified launch failure",
    ],
    "gpu-out-of-memory": [
        "step 12 failed: CUDA out of memory. Tried to allocate 2.00 GiB",
        "ERROR: CUDA error: out of memory",
        "ggml_backend_cuda: cudaMalloc failed: CUDA out of memory",
        "terminate called after throwing an instance of 'c10::OutOfMemoryError'\n  what():  CUDA out of memory. Tried to allocate 20.00 MiB",
        "[ERROR] worker 3: CUDA out of memory",
    ],
    "not-a-number": [
        "epoch 3 | loss: nan | lr 3e-4",
        "Loss is nan, stopping training",
        "WARNING: non-finite loss, ending training tensor([nan])",
        "| epoch 002 | loss nan | ppl nan |",
        "NaN or Inf found in input tensor.",
        "iteration 20 | lm loss: NAN | loss scale: 1.0",
    ],
}

#: What healthy runs say that sounds like a failure.
HEALTHY = [
    "node01:312:312 [0] NCCL INFO NCCL_IB_TIMEOUT set by environment to 22.",
    "node01:312:312 [0] NCCL INFO NET/Plugin: Failed to find ncclNetPlugin_v6 symbol.",
    "node01:312:312 [0] NCCL WARN Failed to open libibverbs.so[.1]",
    "node01:312:340 [0] NCCL INFO comm 0x55d1 rank 0 nranks 8 cudaDev 0 nvmlDev 0 - Init COMPLETE",
    "NCCL INFO TORCH_NCCL_ASYNC_ERROR_HANDLING set by environment to 1.",
    "[rank0]:[W516 10:00:00.0 ProcessGroupNCCL.cpp:4715] [PG ID 0 PG GUID 0 Rank 0]  using GPU 0 as device used by this process is currently unknown. This can potentially cause a hang if this rank to GPU mapping is incorrect.",
    "[rank0]:[W516 10:00:00.0 ProcessGroupNCCL.cpp:1479] Warning: WARNING: destroy_process_group() was not called before program exit, which can leak resources.",
    "{'loss': 2.31, 'grad_norm': nan, 'learning_rate': 0.0, 'epoch': 0.01}\n{'loss': 2.28, 'grad_norm': 1.9, 'learning_rate': 1e-05, 'epoch': 0.02}",
    "Epoch 1: val_loss improved from inf to 0.61234, saving model to best.keras",
    "Validation loss decreased (inf --> 0.693147).  Saving model ...",
    "best loss: inf, best epoch: -1\nepoch 0 loss: 0.71\nepoch 1 loss: 0.64",
    "[2025-03-04 12:00:00,000] [INFO] [loss_scaler.py:188:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
    "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0",
    "Installed signal handlers for SIGTERM, SIGABRT and SIGSEGV",
    '"State": {"Status": "exited", "OOMKilled": false, "ExitCode": 0}',
    "You are calling .generate() with the `input_ids` being on a device type different than your model's device. `input_ids` is on cpu, whereas the model is on cuda. You may experience unexpected behaviors or slower generation. Please make sure that you have put `input_ids` to the correct device by calling for example input_ids = input_ids.to('cuda') before running `.generate()`.",
    "WARNING:accelerate.big_modeling:Some parameters are on the meta device because they were offloaded to the disk and cpu.",
    "You shouldn't move a model that is dispatched using accelerate hooks.",
    "UserWarning: Was asked to gather along dimension 0, but all input tensors were scalars; will instead unsqueeze and return a vector.",
    "You are attempting to use Flash Attention 2.0 with a model not initialized on GPU. Make sure to move the model to GPU after initializing it on CPU with `model.to('cuda')`.",
    "UserWarning: User provided device_type of 'cuda', but CUDA is not available. Disabling",
    "UserWarning: CUDA initialization: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver",
    "UserWarning: The installed version of bitsandbytes was compiled without GPU support. 8-bit optimizers, 8-bit multiplication, and GPU quantization are unavailable.",
    "Warning:  multi_tensor_applier.unscale disabled. Original ImportError was: ModuleNotFoundError(\"No module named 'amp_C'\")",
    "WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError('<HTTPSConnection>: Failed to establish a new connection')': /simple/torch/",
    "2025-03-04 12:00:00.1: E external/local_xla/xla/stream_executor/cuda/cuda_dnn.cc:9261] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered",
    "I0000 cuda_executor.cc:1015] Could not find cuda drivers on your machine, GPU will not be used.",
    "huggingface/tokenizers: The current process just got forked, after parallelism has already been used. Disabling parallelism to avoid deadlocks...",
    "ERROR: pip's dependency resolver does not currently take into account all the packages that are installed. This behaviour is the source of the following dependency conflicts.\ntorchvision 0.15.2 requires torch==2.0.1, but you have torch 2.1.0 which is incompatible.\nSuccessfully installed torch-2.1.0",
    "/opt/lib/torch/nn/parallel/parallel_apply.py:79: FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cuda', args...)` instead.",
    "UserWarning: There is an imbalance between your GPUs. You may want to exclude GPU 1 which has less than 75% of the memory or cores of GPU 0.",
    "[INFO|modeling_utils.py:1] All model checkpoint weights were used when initializing LlamaForCausalLM. Some weights were on cpu, moved to cuda:0",
    "WARNING:root:Some parameters are on the meta device device because they were offloaded to the cpu.",
    "We will use 90% of the memory on device 0 for storing the model, and 10% for the buffer to avoid OOM. You can set `max_memory` in to a higher value to use more memory (at your own risk).",
    "check_for_nan_in_loss_and_grad .................. True\nnan_checks: 0 failures",
    "tests/test_device.py::test_raises_on_cuda_error PASSED [ 50%]",
    "W0304 torch/distributed/run.py:793] Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid your system being overloaded",
    "Error rate: 3.1 %  WER: 12.0  errors: 0  exceptions: none",
    "Exit code: 0, signal: none, killed: no",
    "Some weights of BertForSequenceClassification were not initialized from the model checkpoint and are newly initialized: ['classifier.bias'] because the shapes did not match",
    "slurmstepd: info: task 0 exited with exit code 0",
    "An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.",
    "perplexity: inf at step 0, 41.2 at step 100",
    "`loss_type=None` was set in the config but it is unrecognized. Using the default loss: `ForCausalLMLoss`.",
    "CUDA_LAUNCH_BLOCKING=1 is set: CUDA errors will be reported where they happen",
    "fatal: not a git repository (or any of the parent directories): .git",
    "checking the loss for NaN every 100 steps",
    "loss nan: False, grads nan: False",
    "steps with loss nan: 0",
]


@pytest.mark.parametrize(
    ("error", "family"), [(error, family) for family, some in ERRORS.items() for error in some]
)
def test_families_of_errors(error: str, family: str) -> None:
    head = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\n'
    found = parse(head + error).error
    assert found is not None
    assert found.family == family


def test_every_family_has_examples() -> None:
    known = {rule.family for rule in families()} - {"device-placement"}
    assert {family for family, some in ERRORS.items() if len(some) >= 5} == known


@pytest.mark.parametrize(
    ("event", "family"), [(event, family) for family, some in EVENTS.items() for event in some]
)
def test_families_of_events(event: str, family: str) -> None:
    error = parse(f"step 1 loss 2.1\nstep 2 loss 2.0\n{event}\n").error
    assert error is not None
    assert error.family == family


@pytest.mark.parametrize("line", HEALTHY)
def test_what_only_sounds_like_a_failure(line: str) -> None:
    steps = "\n".join(f"step {number} loss {2.2 - number / 10:.1f}" for number in range(2, 6))
    assert parse(f"step 1 loss 2.1\n{line}\n{steps}\n").error is None
