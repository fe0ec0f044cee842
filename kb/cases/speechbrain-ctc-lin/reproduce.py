"""A recipe's list of modules lacks a layer that the decoder's scorer uses, so it is never moved.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` names the layer among the modules and prints "fixed: ok".
``hparams`` stands for the YAML file of a pretrained model; only what it lists under modules becomes
a submodule of the interface. The scorer is no nn.Module.
"""

import sys

import torch
from torch import nn


class CTCScorer:
    def __init__(self, ctc_fc):
        self.ctc_fc = ctc_fc

    def reset_mem(self, x):
        return self.ctc_fc(x).log_softmax(dim=-1)


class ScorerBuilder:
    def __init__(self, full_scorers):
        self.full_scorers = full_scorers

    def reset_scorer_mem(self, enc_states):
        return [scorer.reset_mem(enc_states) for scorer in self.full_scorers]


class S2SRNNBeamSearcher(nn.Module):
    def __init__(self, scorer):
        super().__init__()
        self.scorer = scorer

    def forward(self, enc_states):
        return self.scorer.reset_scorer_mem(enc_states)[0].argmax(dim=-1)


class EncoderDecoderASR(nn.Module):
    def __init__(self, hparams, device):
        super().__init__()
        self.mods = nn.ModuleDict({name: hparams[name] for name in hparams["modules"]}).to(device)
        self.device = device

    def transcribe_batch(self, wavs):
        with torch.no_grad():
            return self.mods.decoder(self.mods.encoder(wavs.to(self.device)))


def load_hparams(variant):
    ctc_lin = nn.Linear(8, 5, bias=False)
    hparams = {
        "encoder": nn.Linear(4, 8),
        "ctc_lin": ctc_lin,
        "decoder": S2SRNNBeamSearcher(ScorerBuilder([CTCScorer(ctc_lin)])),
        "modules": ["encoder", "decoder"],
    }
    if variant == "fixed":
        hparams["modules"].append("ctc_lin")
    return hparams


def main(variant):
    torch.manual_seed(0)
    asr_model = EncoderDecoderASR(load_hparams(variant), torch.device("cuda:0"))
    asr_model.transcribe_batch(torch.rand(1, 6, 4))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
