"""Prints training lines in the format that Megatron-LM publishes; Megatron itself does not run here."""

import math

print("setting random seeds to 1234 ...")
print("> initialized tensor model parallel with size 2")
print("WARNING: one_logger package is required to enable e2e metrics tracking.")
print("done with setup ...\ntraining ...")
print("Setting rerun_state_machine.current_iteration to 0...")
for step in range(10, 101, 10):
    print(
        f" [2025-03-04 12:00:00] iteration {step:8d}/     500 | consumed samples: {step * 16:12d} | "
        f"elapsed time per iteration (ms): {1210.4 + step % 7:.1f} | learning rate: {step * 1.5e-6:.6E} | "
        f"global batch size: {16:5d} | lm loss: {9.1 * math.exp(-step / 90):.6E} | loss scale: 1.0 | "
        f"grad norm: {2.4 - step / 100:.3f} | number of skipped iterations: {0:3d} | "
        f"number of nan iterations: {0:3d} |"
    )
    if step == 50:
        print("saving checkpoint at iteration      50 to checkpoints in torch_dist format")
        print(
            "  successfully saved checkpoint from iteration      50 to checkpoints [ t 1/2, p 1/1 ]"
        )
        print("(min, max) time across ranks (ms):\n    save-checkpoint ......: (211.20, 214.71)")
print("[after training is done] datetime: 2025-03-04 12:00:00")
