"""Which error is explained, where an input holds several."""

from __future__ import annotations

import random

import pytest
from parsing.knowledge import parse

DEVICE = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"


def traceback(error: str, function: str = "main", prefix: str = "") -> str:
    lines = [
        "Traceback (most recent call last):",
        '  File "/home/user/proj/train.py", line 9, in <module>',
        f"    {function}()",
        f'  File "/home/user/proj/train.py", line 5, in {function}',
        "    step()",
        *error.split("\n"),
    ]
    return "".join(f"{prefix}{line}\n" for line in lines)


def error_type(text: str) -> str | None:
    error = parse(text).error
    return error.type if error else None


DURING = "\nDuring handling of the above exception, another exception occurred:\n\n"
CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"


def test_an_error_that_was_caught_is_not_the_one_that_ended_the_run() -> None:
    log = (
        "step 3 failed, going on without it\n"
        + traceback(DEVICE)
        + "step 4 ok\n"
        + traceback("KeyError: 'x'")
    )
    report = parse(log)
    assert report.error is not None
    assert (report.error.type, report.error.family) == ("KeyError", "missing-name")
    assert report.mismatch is None
    assert report.fallout == ()


def test_what_failed_while_handling_a_device_error_is_the_failure() -> None:
    report = parse(traceback(DEVICE) + DURING + traceback("KeyError: 'fallback'"))
    assert report.error is not None
    assert report.error.type == "KeyError"
    assert [failure.family for failure in report.chain] == ["device-placement"]


def test_an_error_raised_from_a_device_error_is_explained_by_it() -> None:
    report = parse(
        traceback(DEVICE, "inner") + CAUSE + traceback("TrainerError: epoch 3 failed", "outer")
    )
    assert report.error is not None
    assert report.error.family == "device-placement"
    assert report.frames[-1].function == "inner"


def test_a_message_that_repeats_a_device_error_is_one() -> None:
    wrapped = (
        traceback(DEVICE, "inner")
        + DURING
        + traceback(f"ValueError: step failed: {DEVICE[14:]}", "outer")
    )
    report = parse(wrapped)
    assert report.mismatch is not None
    assert report.frames[-1].function == "inner"


def test_the_last_of_other_chains_wins() -> None:
    text = (
        traceback("HFValidationError: Repo id must be")
        + CAUSE
        + traceback("OSError: no such model")
    )
    assert error_type(text) == "OSError"


def test_fallout_of_other_ranks_is_not_the_cause() -> None:
    nccl = "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1275, remote process exited"
    text = (
        traceback(nccl, prefix="[rank0]: ")
        + traceback(DEVICE, prefix="[rank1]: ")
        + "W1121 Sending process 27195 closing signal SIGTERM\n"
        + traceback(
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \ntrain.py FAILED"
        )
    )
    report = parse(text)
    assert report.error is not None
    assert report.error.family == "device-placement"
    assert report.ranks == (1,)
    assert len(report.fallout) == 2


def test_a_rank_is_told_before_what_the_launcher_prints() -> None:
    """torch prints a rank's error with a prefix; the launcher's own failure has none."""
    report = parse(
        traceback("OSError: [Errno 39] Directory not empty: 'run'", "clean")
        + traceback(DEVICE, prefix="[rank1]: ")
    )
    assert report.error is not None
    assert report.error.type == "RuntimeError"
    assert report.ranks == (1,)


def test_frames_that_a_paste_left_out_are_those_of_the_like_error() -> None:
    report = parse(
        traceback(DEVICE)
        + "[rank0]: Traceback (most recent call last):\n"
        + f"[rank2]: {DEVICE.replace('cuda:0', 'cuda:2')}\n"
        + "failed (exitcode: 1) local_rank: 1 (pid: 1002) of binary: /usr/bin/python\n"
    )
    assert report.mismatch is not None
    assert report.mismatch.devices == ("cuda:2", "cpu")
    assert [frame.function for frame in report.frames] == ["<module>", "main"]
    assert report.error is not None
    assert "exitcode" not in report.error.message


def test_frames_are_not_those_of_another_error() -> None:
    report = parse(traceback(DEVICE) + "[rank2]: KeyError: 'x'\n")
    assert report.error is not None
    assert report.error.type == "RuntimeError"
    assert [frame.function for frame in report.frames] == ["<module>", "main"]


def test_the_launcher_knows_which_rank_was_first() -> None:
    text = (
        traceback("KeyError: 'late'", prefix="[rank0]: ")
        + traceback(DEVICE, prefix="[rank3]: ")
        + "Root Cause (first observed failure):\n[0]:\n  time      : 2026-01-01\n  rank      : 3 (local_rank: 3)\n"
    )
    report = parse(text)
    assert report.mismatch is not None
    assert report.ranks == (3,)


@pytest.mark.parametrize(
    ("file", "function"),
    [
        ("/usr/lib/python3.11/weakref.py", "_exitfunc"),
        ("/usr/lib/python3.11/multiprocessing/resource_tracker.py", "main"),
        ("/usr/lib/python3.11/multiprocessing/util.py", "_run_finalizers"),
    ],
)
def test_what_fails_as_a_process_ends_is_not_why(file: str, function: str) -> None:
    after = (
        f'Traceback (most recent call last):\n  File "{file}", line 9, in {function}\n    f()\n'
        "OSError: [Errno 39] Directory not empty: '/tmp/pymp-8x'\n"
    )
    assert error_type(traceback(DEVICE) + after) == "RuntimeError"
    assert error_type(after) == "OSError"


def test_a_task_that_nobody_waited_for_is_not_the_failure() -> None:
    task = (
        "Task exception was never retrieved\n"
        "future: <Task finished name='Task-1' coro=<upload() done> exception=TimeoutError()>\n"
        + traceback("asyncio.exceptions.CancelledError", "wait_for")
        + CAUSE
        + traceback("TimeoutError", "upload")
    )
    report = parse(traceback(DEVICE) + task)
    assert report.error is not None
    assert report.error.type == "RuntimeError"
    alone = parse(task)
    assert alone.error is not None
    assert alone.error.type == "TimeoutError"


def test_an_error_without_words_does_not_borrow_those_of_another() -> None:
    report = parse(traceback(DEVICE) + "step 4 ok\n" + traceback("TimeoutError"))
    assert report.error is not None
    assert (report.error.type, report.error.message, report.mismatch) == ("TimeoutError", "", None)


def test_what_a_test_printed_before_it_failed_is_not_its_failure() -> None:
    failure = (
        "=================================== FAILURES ===================================\n"
        "__________________________________ test_step ___________________________________\n"
        "test_train.py:9: in test_step\n    step()\n"
        f"E   {DEVICE}\n"
    )
    captured = (
        "----------------------------- Captured stderr call -----------------------------\n"
        + traceback("KeyError: 'ckpt'")
    )
    summary = "=========================== short test summary info ============================\n"
    report = parse(failure + captured + summary)
    assert report.error is not None
    assert report.error.type == "RuntimeError"
    assert [frame.function for frame in report.frames] == ["test_step"]
    relayed = failure.replace(DEVICE, "subprocess.CalledProcessError: returned 1")
    assert error_type(relayed + captured.replace("KeyError: 'ckpt'", DEVICE)) == "RuntimeError"


def test_a_rank_that_went_on_has_got_over_its_error() -> None:
    """Rank 1 caught an error and trained on; what ended the job is rank 3's."""
    caught = traceback(DEVICE.replace("cpu", "cuda:1"), "evaluate", prefix="1: ")
    went_on = "".join(f"{rank}: step {n} loss 2.1\n" for n in range(25) for rank in (1, 3))
    end = traceback(DEVICE, prefix="3: ") + "1: srun: error: task 1: Exited with exit code 1\n"
    report = parse(caught + went_on + end)
    assert report.mismatch is not None
    assert report.mismatch.devices == ("cuda:0", "cpu")
    first = parse(caught + end)  # nothing tells that rank 1 went on: the first failure counts
    assert first.mismatch is not None
    assert first.mismatch.devices == ("cuda:0", "cuda:1")


def handled(error: str, wrapper: str, code: str, function: str = "main") -> str:
    """A traceback that a function raises while it handles another one."""
    caught = (
        'Traceback (most recent call last):\n  File "/home/user/proj/train.py", line 5, in main\n    step()\n'
        '  File "/home/user/proj/model.py", line 7, in step\n    h + bias\n' + error + "\n"
    )
    raised = (
        'Traceback (most recent call last):\n  File "/home/user/proj/train.py", line 9, in <module>\n'
        f'    main()\n  File "/home/user/proj/train.py", line 8, in {function}\n    {code}\n{wrapper}\n'
    )
    return caught + DURING + raised


def test_what_the_handler_raises_instead_is_explained_by_what_it_caught() -> None:
    report = parse(handled(DEVICE, "TrainerError: epoch 3 failed", "raise TrainerError(3)"))
    assert report.error is not None
    assert report.error.family == "device-placement"
    assert [frame.function for frame in report.frames] == ["<module>", "main", "step"]


@pytest.mark.parametrize(
    "log",
    [
        handled(DEVICE, "KeyError: 'fallback'", "fall_back[name]"),
        handled(DEVICE, "KeyError: 'fallback'", "raise KeyError(name)", "fall_back"),
        handled("KeyError: 'x'", "TrainerError: epoch 3 failed", "raise TrainerError(3)"),
    ],
)
def test_another_failure_in_a_handler_is_the_failure(log: str) -> None:
    assert error_type(log) in ("KeyError", "TrainerError")


def test_a_rule_between_frames_cuts_no_traceback() -> None:
    lines = traceback(DEVICE).splitlines()
    shown = [
        *lines[:3],
        "================ Epoch 3 ================",
        "______ summary ______",
        *lines[3:],
    ]
    report = parse("\n".join(shown))
    assert [frame.function for frame in report.frames] == ["<module>", "main"]


def test_an_ignored_exception_without_a_traceback_ignores_no_other() -> None:
    log = (
        traceback("ConnectionError: first try")
        + "Task exception was never retrieved\nfuture: <Task finished exception=TimeoutError()>\n"
        + "step 1 ok\nstep 2 ok\nstep 3 ok\n"
    )
    assert error_type(log + traceback(DEVICE)) == "RuntimeError"


def test_what_fails_while_cleaning_up_is_not_explained() -> None:
    report = parse(handled(DEVICE, "BrokenPipeError: [Errno 32] Broken pipe", "run.finish()"))
    assert report.error is not None
    assert report.error.family == "device-placement"
    assert [failure.type for failure in report.chain] == ["BrokenPipeError"]


def summary(*codes: int) -> str:
    """torchrun's, of the ranks from 0 on, each with its exit code."""
    listed = "".join(
        f"  rank      : {rank} (local_rank: {rank})\n  exitcode  : {code} (pid: 41)\n"
        for rank, code in enumerate(codes)
    )
    return (
        traceback(
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \ntrain.py FAILED"
        )
        + f"Root Cause (first observed failure):\n{listed}"
    )


def of_ranks(count: int) -> list[str]:
    return [traceback(DEVICE.replace("cuda:0", f"cuda:{rank}")) for rank in range(count)]


@pytest.mark.parametrize(
    ("printed", "codes", "ranks", "alike"),
    [
        (1, (-15, 1, -15), (1,), 1),  # one failed, one printed
        (2, (1, 1, -15), (0, 1), 2),
        (3, (-15, 1, -15), (0, 1, 2), 3),  # two were ended after they had printed it
        (2, (-15, 1, -15), (), 2),  # which of the ended ones?
        (4, (1,), (), 4),
        (1, (1, 1), (), 1),  # whose is it?
    ],
)
def test_the_ranks_that_only_the_launcher_lists(
    printed: int, codes: tuple[int, ...], ranks: tuple[int, ...], alike: int
) -> None:
    report = parse("".join(of_ranks(printed)) + summary(*codes))
    assert (report.ranks, report.alike) == (ranks, alike)


def test_a_prefix_names_the_rank_whatever_the_launcher_lists() -> None:
    assert parse(traceback(DEVICE, prefix="[rank1]: ") + summary(1, 1)).ranks == (1,)


def test_errors_alike_without_a_launcher_are_of_one_process() -> None:
    report = parse("".join(of_ranks(3)))
    assert (report.ranks, report.alike) == ((), 1)


@pytest.mark.parametrize("seed", range(20))
def test_ranks_that_print_line_among_line(seed: int) -> None:
    rng = random.Random(seed)
    left = [text.splitlines(keepends=True) for text in of_ranks(4)]
    mixed = ""
    while any(left):
        mixed += rng.choice([lines for lines in left if lines]).pop(0)
    report = parse(mixed)
    assert (report.ranks, report.alike) == ((), 4)
    assert [(f.line, f.function) for f in report.frames] == [(9, "<module>"), (5, "main")]


def test_a_line_of_source_is_that_of_the_frame_it_mostly_stands_below() -> None:
    head, frame, main, inner, step, error = traceback(DEVICE).splitlines()
    lines = [
        head,
        head,
        frame,
        head,
        frame,
        main,
        inner,
        frame,
        main,
        main,
        inner,
        step,
        inner,
        step,
    ]
    lines += [error, error.replace("0", "1"), step, error.replace("0", "2")]
    report = parse("\n".join(lines))
    assert report.alike == 3
    assert [frame.code for frame in report.frames] == ["main()", "step()"]


def test_messages_of_ranks_that_differ_in_the_device_are_no_terminals_width() -> None:
    text = traceback("RuntimeError: " + "x" * 90 + " cuda:0") + traceback(
        "RuntimeError: " + "x" * 90 + " cuda:1"
    )
    error = parse(text + "    step()\n").error
    assert error is not None
    assert error.message.endswith("cuda:1\n    step()")


def test_a_chain_of_three_is_explained_by_the_device_error_it_began_with() -> None:
    report = parse(
        traceback(DEVICE, "inner")
        + CAUSE
        + traceback("TrainerError: epoch 3 failed", "middle")
        + CAUSE
        + traceback("JobError: job failed", "outer")
    )
    assert report.error is not None
    assert report.error.family == "device-placement"
    assert report.frames[-1].function == "inner"


def test_a_pool_raises_what_its_worker_raised() -> None:
    worker = traceback("KeyError: 'x'", "load")
    pool = (
        'Traceback (most recent call last):\n  File "/home/user/proj/train.py", line 70, in <module>\n'
        '    pool.map(load, shards)\n  File "/usr/lib/python3.11/multiprocessing/pool.py", line 774, in get\n'
        "    raise self._value\nKeyError: 'x'\n"
    )
    report = parse(f'multiprocessing.pool.RemoteTraceback: \n"""\n{worker}"""\n{CAUSE}{pool}')
    assert report.error is not None and report.error.type == "KeyError"
    assert report.frames[-1].function == "load"


@pytest.mark.parametrize(
    "prefix", ["(RayTrainWorker pid=71) ", "[rank0]: ", "worker-1: ", "eval-1  | "]
)
def test_what_a_stream_got_over_is_not_the_failure_of_another(prefix: str) -> None:
    caught = traceback(DEVICE, "probe", prefix=prefix)
    went_on = "".join(f"{prefix}2026-03-04 09:03:{n} INFO train: step {n}\n" for n in range(10, 40))
    assert error_type(caught + went_on + traceback("KeyError: 'x'")) == "KeyError"
    assert error_type(caught + traceback("KeyError: 'x'")) == "RuntimeError"


def test_a_sample_that_was_skipped_says_nothing_of_the_next_error() -> None:
    skipped = "WARNING data: sample 881 skipped: bad image\n"
    after = "wandb: \nwandb: Run history:\nwandb: \nwandb: Run summary:\n"
    assert error_type(skipped + traceback("KeyError: 'x'") + after) == "KeyError"


def test_ignored_exceptions_are_ignored() -> None:
    text = (
        traceback("ValueError: the failure")
        + "Exception ignored in: <function Pool.__del__ at 0x7f>\n"
        + traceback("AttributeError: 'Pool' object has no attribute 'x'")
    )
    assert error_type(text) == "ValueError"


def test_the_original_error_of_a_worker_with_the_wrappers_frames_before() -> None:
    text = (
        traceback("RuntimeError: Caught RuntimeError in replica 1 on device 1.", "outer").rstrip(
            "\n"
        )
        + "\nOriginal "
        + traceback(DEVICE, "forward")
    )
    report = parse(text)
    assert report.mismatch is not None
    assert [frame.function for frame in report.frames] == [
        "<module>",
        "outer",
        "<module>",
        "forward",
    ]


def test_the_users_code_of_a_compiled_model_is_innermost() -> None:
    text = (
        traceback("torch._dynamo.exc.TorchRuntimeError: Dynamo failed to run FX node with fake tensors: "
                  "call_function <built-in function add>(*(FakeTensor(..., size=(2,)),), **{}): got RuntimeError("
                  "'Unhandled FakeTensor Device Propagation for aten.add.Tensor, found two different devices "
                  "cuda:0, cpu')")
        + '\nfrom user code:\n   File "/home/user/proj/model.py", line 7, in forward\n    return x + y\n\n'
        + "Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace\n"
    )  # fmt: skip
    report = parse(text)
    assert report.mismatch is not None
    assert report.mismatch.op == "aten.add.Tensor"
    assert (report.frames[-1].file, report.frames[-1].line) == ("/home/user/proj/model.py", 7)


def test_a_metric_that_hides_the_devices_is_told_by_its_cause() -> None:
    metric = "RuntimeError: Encountered different devices in metric calculation (see stacktrace for details)."
    report = parse(traceback(DEVICE, "update") + CAUSE + traceback(metric, "wrapped_func"))
    assert report.mismatch is not None
    assert report.mismatch.wording == "torchmetrics"
    assert report.mismatch.devices == ("cuda:0", "cpu")


def test_the_exception_may_stand_before_its_frames() -> None:
    text = f'{DEVICE}\n  File "metrics.py", line 45, in update\n    self.weight += weight.sum()\n'
    report = parse(text)
    assert report.mismatch is not None
    assert [frame.line for frame in report.frames] == [45]


def test_most_recent_call_first_is_turned() -> None:
    text = (
        "Exception has occurred: RuntimeError\n" + DEVICE[14:] + "\n"
        '  File "/home/user/proj/model.py", line 3, in forward\n    x + y\n'
        '  File "/home/user/proj/train.py", line 9, in <module>\n    model(x)\n'
    )
    report = parse(text)
    assert report.mismatch is not None
    assert [frame.function for frame in report.frames] == ["<module>", "forward"]


def test_lines_about_placement_are_kept() -> None:
    report = parse(
        "torchrun --nproc_per_node=2 train.py\nloading model with device_map=auto\nhello\n"
        + traceback(DEVICE)
    )
    assert [line.number for line in report.context] == [1, 2]
