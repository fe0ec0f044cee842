"""A loader takes device and index, and one of its two models is placed by the name alone.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` puts the index into the second model's device and prints "fixed: ok".
"""

import sys

import torch
from torch import nn


class VoiceActivitySegmentation(nn.Module):
    def __init__(self):
        super().__init__()
        self.wav_norm = nn.BatchNorm1d(1)
        self.sincnet = nn.Sequential(nn.Conv1d(1, 8, 16, stride=8), nn.ReLU())
        self.classifier = nn.Linear(8, 1)

    def forward(self, waveforms):
        return self.classifier(self.sincnet(self.wav_norm(waveforms)).mT).sigmoid()


def load_vad_model(device):
    return VoiceActivitySegmentation().to(device).eval()


class WhisperModel:
    def __init__(self, device, device_index):
        self.device = torch.device(device, device_index)
        self.encoder = nn.Linear(80, 16).to(self.device)

    def transcribe(self, segments):
        return [self.encoder(segment[:80].to(self.device)) for segment in segments]


class FasterWhisperPipeline:
    def __init__(self, model, vad_model):
        self.model, self.vad_model = model, vad_model

    @torch.no_grad()
    def transcribe(self, audio):
        waveforms = audio.to(self.model.device)[None, None]
        speech = self.vad_model(waveforms)[0, :, 0]
        starts = (speech > 0.4).nonzero()[:2, 0] * 8
        return self.model.transcribe([audio[start : start + 80] for start in starts.tolist()])


def load_model(device, device_index, variant):
    model = WhisperModel(device, device_index)
    device_vad = f"cuda:{device_index}" if variant == "fixed" else device
    return FasterWhisperPipeline(model, load_vad_model(torch.device(device_vad)))


def main(variant):
    torch.manual_seed(0)
    pipeline = load_model("cuda", device_index=1, variant=variant)
    pipeline.transcribe(torch.randn(400))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
