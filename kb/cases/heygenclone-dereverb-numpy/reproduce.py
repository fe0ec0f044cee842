"""A spectrogram for an ONNX session is made an array on the device that is in use.

Needs torch, numpy and one GPU. ``python reproduce.py failing`` ends in the conversion error,
``python reproduce.py fixed`` copies to the cpu in any case, brings the answer back, and prints
"fixed: ok". ``OnnxSession`` takes and gives arrays, as the real one does.
"""

import sys

import numpy as np
import torch


class OnnxSession:
    def run(self, inputs):
        assert isinstance(inputs, np.ndarray)
        return inputs * (np.abs(inputs) > 0.1)


class Predictor:
    def __init__(self, device, variant):
        self.device = torch.device(device)
        self.model, self.variant = OnnxSession(), variant
        self.window = torch.hann_window(64, device=self.device)

    def stft(self, mix):
        spek = torch.stft(mix, 64, 32, window=self.window, return_complex=True)
        return torch.view_as_real(spek)

    def istft(self, spec):
        return torch.istft(torch.view_as_complex(spec), 64, 32, window=self.window)

    def demix_base(self, mix):
        spectrum = self.stft(mix.to(self.device))
        if self.variant == "failing" and self.device.type == "cuda":
            array = spectrum.cuda().numpy()
        else:
            array = spectrum.cpu().numpy()
        estimate = (self.model.run(array) - self.model.run(-array)) / 2
        return self.istft(torch.from_numpy(estimate).to(self.device))

    def demix(self, mix, chunk=320):
        return torch.cat([self.demix_base(part) for part in mix.split(chunk, dim=-1)], dim=-1)


def main(variant):
    torch.manual_seed(0)
    vocals = Predictor("cuda", variant).demix(torch.randn(2, 640))
    assert vocals.is_cuda and vocals.shape == (2, 640)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
