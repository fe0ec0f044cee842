"""Whole logs of launchers: the first cause is explained, its ranks named, and what only followed is fallout."""

from __future__ import annotations

import pytest
from parsing.knowledge import parse

from diagnose.model import Report

DEVICE = (
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, "
    "cuda:1 and cpu! (when checking argument for argument mat2 in method wrapper_CUDA_mm)"
)
TORCH = "/opt/conda/lib/python3.11/site-packages/torch"


def trace(error: str, *places: tuple[str, int, str]) -> str:
    places = places or (
        ("/home/user/train.py", 40, "<module>"),
        ("/home/user/train.py", 31, "step"),
    )
    calls = "".join(f'  File "{f}", line {n}, in {name}\n    call()\n' for f, n, name in places)
    return f"Traceback (most recent call last):\n{calls}{error}\n"


def of_rank(rank: int, text: str) -> str:
    return "".join(f"[rank{rank}]: {line}\n" for line in text.splitlines())


FAILED = trace(DEVICE)
SUMMARY = (
    "E0203 04:05:06.100000 11 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) "
    "local_rank: 1 (pid: 12) of binary: /opt/conda/bin/python\n"
    + trace(
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        + "=" * 60
        + "\ntrain.py FAILED\n"
        + "-" * 60
        + "\nFailures:\n[1]:\n  time      : 2026-02-03_04:05:06\n  host      : n7\n"
        "  rank      : 0 (local_rank: 0)\n  exitcode  : -6 (pid: 11)\n  error_file: <N/A>\n"
        "  traceback : Signal 6 (SIGABRT) received by PID 11\n"
        + "-"
        * 60
        + "\nRoot Cause (first observed failure):\n[0]:\n  time      : 2026-02-03_04:05:05\n"
        "  host      : n7\n  rank      : 1 (local_rank: 1)\n  exitcode  : 1 (pid: 12)\n"
        "  error_file: <N/A>\n  traceback : To enable traceback see: https://pytorch.org/docs\n"
        + "="
        * 60,
        ("/opt/conda/bin/torchrun", 8, "<module>"),
        (f"{TORCH}/distributed/run.py", 900, "main"),
    )
)
WATCHDOG = (
    "[rank0]:[E203 04:15:06.1 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, NumelIn=1, Timeout(ms)=600000) ran for 600010 ms\n"
    "[rank0]:[E203 04:15:06.2 ProcessGroupNCCL.cpp:2271] [PG ID 0 Rank 0] failure detected\n"
    "terminate called after throwing an instance of 'c10::DistBackendError'\n"
    "  what():  [PG ID 0 PG GUID 0 Rank 0] Process group watchdog thread terminated with exception\n"
)
CALLED = trace(
    "subprocess.CalledProcessError: Command '['/opt/conda/bin/python', 'train.py']' returned non-zero "
    "exit status 1.",
    ("/opt/conda/bin/accelerate", 8, "<module>"),
    (
        "/opt/conda/lib/python3.11/site-packages/accelerate/commands/launch.py",
        763,
        "simple_launcher",
    ),
)
RETRIED = "W0203 torch/distributed/elastic/agent/server/api.py:900] restarting worker group\n"
DATALOADER = (
    "[W203 04:05:06 CudaIPCTypes.cpp:16] Producer process has been terminated before all shared CUDA "
    "tensors released.\n"
)
CAUGHT = (
    "WARNING:trainer:upload failed, trying again\n"
    + trace("requests.exceptions.ConnectionError: HTTPSConnectionPool(host='x', port=443)")
    + "INFO:trainer:step 12 loss 2.1\n"
)
OUT_OF_MEMORY = (
    "INFO:trainer:batch size 64 does not fit, trying 32\n"
    + trace("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.")
    + "INFO:trainer:step 1 loss 2.1\n"
)
UNRAISABLE = "Exception ignored in: <function Pool.__del__ at 0x7f>\n" + trace(
    "AttributeError: 'NoneType' object has no attribute 'put'"
)
QUEUE = "Exception in thread QueueFeederThread:\n" + trace(
    "BrokenPipeError: [Errno 32] Broken pipe"
)
DUMP = (
    "Timeout (0:10:00)!\nThread 0x00007f (most recent call first):\n"
    '  File "/opt/conda/lib/python3.11/threading.py", line 324 in wait\n'
    '  File "/home/user/train.py", line 40 in <module>\n'
)
HYDRA = "Error executing job with overrides: ['lr=1']\n"
SLURM = (
    "slurmstepd: error: *** STEP 12.0 ON n7 CANCELLED AT 2026-02-03T04:05:07 ***\n"
    "srun: error: n7: task 0: Terminated\nsrun: error: n8: task 1: Exited with exit code 1\n"
)
DEEPSPEED = (
    "[2026-02-03 04:05:06,123] [INFO] [launch.py:319:sigkill_handler] Killing subprocess 812\n"
    "[2026-02-03 04:05:06,124] [ERROR] [launch.py:325:sigkill_handler] ['python', '-u', 'train.py', "
    "'--local_rank=1'] exits with return code = 1\n"
)
SPAWNED = (
    "W0203 04:05:06.1 11 torch/multiprocessing/spawn.py:169] Terminating process 813 via signal SIGTERM\n"
    + trace(
        "torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 1 terminated with the "
        "following error:\n" + FAILED.rstrip("\n"),
        ("/home/user/launch.py", 9, "<module>"),
        (f"{TORCH}/multiprocessing/spawn.py", 215, "join"),
    )
)
SIGTERM = trace(
    "torch.distributed.elastic.multiprocessing.api.SignalException: Process 11 got signal: 15",
    (f"{TORCH}/distributed/elastic/multiprocessing/api.py", 84, "_terminate_process_handler"),
)
EXIT = "\nDuring handling of the above exception, another exception occurred:\n\n" + trace(
    "SystemExit: 1"
)
INTERRUPT = trace("KeyboardInterrupt", ("/home/user/train.py", 40, "<module>"))

LOGS = {
    "elastic": (of_rank(1, FAILED) + WATCHDOG + SUMMARY, {"ChildFailedError"}),
    "elastic-restarts": ((of_rank(1, FAILED) + RETRIED) * 3 + SUMMARY, {"ChildFailedError"}),
    "accelerate": (FAILED + CALLED, {"CalledProcessError"}),
    "deepspeed": (FAILED + DEEPSPEED, set()),
    "slurm": ("".join(f"1: {x}\n" for x in FAILED.splitlines()) + SLURM, set()),
    "spawn": (SPAWNED, set()),
    "sigterm": (FAILED + SIGTERM, {"SignalException"}),
    "interrupted": (FAILED + INTERRUPT, {"KeyboardInterrupt"}),
    "caught-before": (CAUGHT + FAILED, set()),
    "retried-smaller": (OUT_OF_MEMORY + FAILED, set()),
    "unraisable-after": (FAILED + UNRAISABLE, set()),
    "thread-after": (DATALOADER + FAILED + QUEUE, {"BrokenPipeError"}),
    "dump-before": (DUMP + FAILED, set()),
    "hydra": (HYDRA + FAILED + "Set the environment variable HYDRA_FULL_ERROR=1 for a complete "
              "stack trace.\n", set()),
    "exit-of-handler": (FAILED + EXIT, set()),
}  # fmt: skip


def types(report: Report) -> set[str]:
    return {failure.type.split(".")[-1] for failure in report.fallout}


@pytest.mark.parametrize("name", LOGS)
def test_the_first_cause_is_explained(name: str) -> None:
    log, fallout = LOGS[name]
    report = parse("epoch 1\n" + log + "bye\n")
    assert report.error is not None
    assert report.error.family == "device-placement"
    assert report.mismatch is not None and report.mismatch.devices == ("cuda:1", "cpu")
    assert (report.frames[-1].file, report.frames[-1].line) == ("/home/user/train.py", 31)
    assert fallout <= types(report)
    assert types(report) == set() or fallout


#: What the other ranks say when one has died.
FOLLOWING = (
    "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:3384, remote process exited "
    "or there was a network error, NCCL version 2.21.5",
    "torch.distributed.DistBackendError: [0] is setting up NCCL communicator and retrieving ncclUniqueId "
    "from [0] via c10d key-value store by key '0', but store->get('0') got error: Connection reset by peer",
    "torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. 1/2 clients joined.",
    "torch.distributed.DistNetworkError: The client socket has timed out after 600s",
    "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer "
    "[10.0.0.3]:41231",
    "RuntimeError: [2] Caught collective operation timeout: WorkGloo(SeqNum=3) ran for 1800 ms",
    "RuntimeError: NCCL communicator was aborted on rank 0.",
    "RuntimeError: Rank 1 failed to pass monitoredBarrier in 1800000 ms",
    "RuntimeError: Socket Timeout",
    "ConnectionResetError: [Errno 104] Connection reset by peer",
    "ConnectionRefusedError: [Errno 111] Connection refused",
    "EOFError",
    "torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the C10d store "
    "has failed. See inner exception for details.",
)  # fmt: skip


@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("message", FOLLOWING, ids=lambda message: message[:40])
def test_the_echo_of_another_rank_is_fallout(message: str, *, first: bool) -> None:
    echo = of_rank(
        0, trace(message, ("/home/user/train.py", 40, "<module>"), (f"{TORCH}/x.py", 3, "f"))
    )
    parts = [echo, of_rank(1, FAILED)] if first else [of_rank(1, FAILED), echo]
    report = parse("".join(parts))
    assert report.error is not None and report.error.family == "device-placement"
    assert report.ranks == (1,)
    assert types(report) == {message.split(":")[0].split(".")[-1]}


def test_every_rank_that_failed_alike_is_named() -> None:
    log = "".join(of_rank(r, FAILED.replace("cuda:1", f"cuda:{r}")) for r in (2, 1, 3))
    report = parse(log + WATCHDOG)
    assert report.ranks == (1, 2, 3)
    assert report.mismatch is not None and report.mismatch.devices == ("cuda:2", "cpu")
