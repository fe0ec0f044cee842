"""A physics backend allocates on the current GPU, which nobody has set to the rank's.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` sets the current GPU before the first allocation and prints
"fixed: ok". ``NewtonManager`` plays Warp with PyTorch: allocations that name no number.
"""

import sys

import torch

LOCAL_RANK = 1


class SolverMuJoCo:
    def __init__(self, num_worlds):
        self.contact_force = torch.zeros(num_worlds, 3, device="cuda")
        self.gravity = torch.tensor([0.0, 0.0, -9.81], device="cuda").expand(num_worlds, 3)

    def step(self, velocity, dt):
        return velocity + dt * (self.gravity + self.contact_force)


class NewtonManager:
    def __init__(self, device, variant):
        self.device = torch.device(device)
        self.variant = variant

    def start_simulation(self, num_worlds):
        if self.variant == "fixed":
            torch.cuda.set_device(self.device)
        self.velocity = torch.zeros(num_worlds, 3, device=self.device)
        self.solver = SolverMuJoCo(num_worlds)

    def step(self):
        self.velocity = self.solver.step(self.velocity, dt=0.01)
        return self.velocity


def main(variant):
    manager = NewtonManager(f"cuda:{LOCAL_RANK}", variant)
    manager.start_simulation(num_worlds=4)
    for _ in range(2):
        manager.step()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
