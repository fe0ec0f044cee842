"""Of two models of a voice cloner, one is read without the device that the user chose.

Needs torch; a GPU is not used. ``python reproduce.py failing`` ends in torch.load's error,
``python reproduce.py fixed`` passes the device on and prints "fixed: ok". The files are marked as
coming from cuda:0, and CUDA is hidden while they are read.
"""

import sys
import tempfile
from pathlib import Path
from unittest import mock

import torch
from torch import nn


class HuBERTManager:
    @staticmethod
    def load_hubert(path, device):
        model = nn.Conv1d(1, 8, 10, stride=5)
        model.load_state_dict(torch.load(path, map_location=device))
        return model.to(device)


class CustomTokenizer(nn.Module):
    def __init__(self, hidden_size=8, vocab=16):
        super().__init__()
        self.lstm = nn.LSTM(hidden_size, 8, batch_first=True)
        self.fc = nn.Linear(8, vocab)

    def get_token(self, x):
        return self.fc(self.lstm(x)[0]).argmax(-1)

    @staticmethod
    def load_from_checkpoint(path, device, variant):
        model = CustomTokenizer()
        where = {"map_location": device} if variant == "fixed" else {}
        model.load_state_dict(torch.load(path, **where))
        return model.to(device)


def clone_voice(folder, audio, device, variant):
    hubert = HuBERTManager.load_hubert(folder / "hubert.pt", device)
    tokenizer = CustomTokenizer.load_from_checkpoint(folder / "tokenizer.pth", device, variant)
    with torch.no_grad():
        return tokenizer.get_token(hubert(audio).mT)


def download_models(folder):
    with mock.patch("torch.serialization.location_tag", return_value="cuda:0"):
        torch.save(nn.Conv1d(1, 8, 10, stride=5).state_dict(), folder / "hubert.pt")
        torch.save(CustomTokenizer().state_dict(), folder / "tokenizer.pth")


def main(variant):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        download_models(folder)
        with mock.patch("torch.cuda.is_available", return_value=False):
            tokens = clone_voice(folder, torch.randn(1, 1, 100), "cpu", variant)
    assert tokens.shape == (1, 19)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
