"""Each process trains on its own GPU, and the simulator of every process is on the first one.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` hands the process's device to the simulator and prints "fixed: ok".
The second of two processes is played.
"""

import sys

import torch
from torch import nn


class SimulationContext:
    def __init__(self, num_envs, device="cuda:0"):
        self.device = torch.device(device)
        self.joint_pos = torch.zeros(num_envs, 6, device=self.device)

    def step(self, actions):
        self.joint_pos = self.joint_pos + 0.01 * actions.to(self.device)


class IsaacLabEngine:
    def __init__(self, num_envs, device, variant):
        if variant == "fixed":
            self.sim = SimulationContext(num_envs, device=device)
        else:
            self.sim = SimulationContext(num_envs)

    def get_dof_pos(self):
        return self.sim.joint_pos


class Env:
    def __init__(self, num_envs, device, variant):
        self.engine = IsaacLabEngine(num_envs, device, variant)
        self.reference = torch.ones(num_envs, 6, device=device)

    def step(self, actions):
        self.engine.sim.step(actions)
        error = self.engine.get_dof_pos() - self.reference
        return error, -error.pow(2).sum(dim=1)


def run(rank, devices, variant):
    device = torch.device(devices[rank])
    torch.cuda.set_device(device)
    agent = nn.Linear(6, 6).to(device)
    env = Env(num_envs=4, device=device, variant=variant)
    obs, reward = env.step(torch.zeros(4, 6, device=device))
    agent(obs).sum().backward()


def main(variant):
    torch.manual_seed(0)
    run(rank=1, devices=["cuda:0", "cuda:1"], variant=variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
