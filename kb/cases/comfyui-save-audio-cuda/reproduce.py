"""A node writes audio that came from a decoder on the GPU.

Needs torch, numpy and one GPU. ``python reproduce.py failing`` ends in the conversion error,
``python reproduce.py fixed`` copies the waveform to the cpu and prints "fixed: ok". ``save`` does
what a writer of torchaudio does: an array, then bytes.
"""

import io
import sys
import wave

import numpy as np
import torch
from torch import nn


def save(buff, waveform, sample_rate):
    samples = (waveform.t().numpy() * 32767).astype(np.int16)
    with wave.open(buff, "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(2)
        file.setframerate(sample_rate)
        file.writeframes(samples.tobytes())


class VAEDecodeAudio:
    def __init__(self, intermediate_device):
        self.decoder = nn.ConvTranspose1d(4, 2, 16, stride=8).to("cuda")
        self.intermediate_device = intermediate_device

    @torch.no_grad()
    def decode(self, latent):
        audio = self.decoder(latent.to("cuda")).tanh()
        return {"waveform": audio.to(self.intermediate_device), "sample_rate": 44100}


class SaveAudio:
    def __init__(self, variant):
        self.variant = variant

    def save_audio(self, audio):
        results = []
        waveforms = audio["waveform"]
        if self.variant == "fixed":
            waveforms = waveforms.cpu()
        for waveform in waveforms:
            buff = io.BytesIO()
            save(buff, waveform, audio["sample_rate"])
            results.append(buff.getvalue())
        return results


def main(variant):
    audio = VAEDecodeAudio(intermediate_device="cuda").decode(torch.randn(2, 4, 20))
    files = SaveAudio(variant).save_audio(audio)
    assert len(files) == 2 and files[0].startswith(b"RIFF")
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
