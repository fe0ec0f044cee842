"""A pretrained model is placed by run_opts, and its subclass takes the device from a file again.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` leaves the device of run_opts alone and prints "fixed: ok".
"""

import sys
from types import SimpleNamespace

import torch
from torch import nn


class Pretrained:
    def __init__(self, modules, hparams, run_opts):
        self.device = run_opts.get("device", "cpu")
        self.mods = nn.ModuleDict(modules).to(self.device)
        self.hparams = SimpleNamespace(**hparams)

    @classmethod
    def from_hparams(cls, run_opts, variant):
        modules = {
            "compute_features": nn.Conv1d(1, 8, 40, stride=16),
            "cnn": nn.LayerNorm(8),
            "dnn": nn.Linear(8, 1),
        }
        hparams = {"device": "cpu", "sample_rate": 16000, "time_resolution": 0.01}
        return cls(modules, hparams, run_opts, variant)


class VAD(Pretrained):
    def __init__(self, modules, hparams, run_opts, variant):
        super().__init__(modules, hparams, run_opts)
        self.sample_rate = self.hparams.sample_rate
        self.time_resolution = self.hparams.time_resolution
        if variant == "failing":
            self.device = self.hparams.device

    @torch.no_grad()
    def get_speech_prob_chunk(self, wavs):
        feats = self.features(wavs.to(self.device))
        outputs = self.mods["cnn"](feats)
        return self.mods["dnn"](outputs).sigmoid()

    def features(self, wavs):
        frames = wavs.unfold(-1, 40, 16)
        return torch.stack(frames.abs().chunk(8, dim=-1), dim=-1).mean(-2)

    def get_speech_prob_file(self, audio, small_chunk_size=400):
        chunks = audio.unfold(0, small_chunk_size, small_chunk_size)
        return self.get_speech_prob_chunk(chunks).flatten()


def main(variant):
    vad = VAD.from_hparams(run_opts={"device": "cuda"}, variant=variant)
    probabilities = vad.get_speech_prob_file(torch.randn(1600))
    assert probabilities.is_cuda
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
