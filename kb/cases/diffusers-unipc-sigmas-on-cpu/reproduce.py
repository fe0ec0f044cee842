"""A scheduler sends its sigmas to the cpu and stacks what it makes of them with a GPU tensor.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error in the second
step, ``python reproduce.py fixed`` moves the indexed sigmas and prints "fixed: ok".
"""

import sys

import torch


class UniPCMultistepScheduler:
    def __init__(self, variant):
        self.variant = variant

    def set_timesteps(self, num_inference_steps, device):
        sigmas = torch.linspace(0.99, 0.01, num_inference_steps + 1, device=device)
        self.sigmas = sigmas.to("cpu")
        self.step_index = 0

    def multistep_uni_p_bh_update(self, sample, order):
        lambdas = -torch.log(self.sigmas)
        if self.variant == "fixed":
            lambdas = lambdas.to(sample.device)
        h = lambdas[self.step_index + 1] - lambdas[self.step_index]
        rks = []
        for i in range(1, order):
            rks.append((lambdas[self.step_index - i] - lambdas[self.step_index]) / h)
        rks.append(torch.ones((), device=sample.device))
        rks = torch.stack(rks)
        return sample * (1 - 0.1 * rks.mean())

    def step(self, sample):
        sample = self.multistep_uni_p_bh_update(sample, order=min(self.step_index + 1, 2))
        self.step_index += 1
        return sample


def main(variant):
    scheduler = UniPCMultistepScheduler(variant)
    scheduler.set_timesteps(4, device="cuda")
    latents = torch.randn(1, 4, 8, 8, device="cuda")
    for _ in range(4):
        latents = scheduler.step(latents)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
