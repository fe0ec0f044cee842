"""Distils a large acoustic model into a small one."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class AcousticModel(nn.Module):
    def __init__(self, mel_bins, width, phones):
        super().__init__()
        self.frontend = nn.Linear(mel_bins, width)
        self.blocks = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))
        self.classifier = nn.Linear(width, phones)

    def forward(self, mels):
        return self.classifier(self.blocks(self.frontend(mels)))


def distillation_loss(student_logits, teacher_logits, temperature=2.0):
    soft = F.log_softmax(student_logits / temperature, dim=-1)
    return F.kl_div(soft, F.softmax(teacher_logits / temperature, dim=-1), reduction="batchmean")


def train_step(student, teacher, mels, optimizer):
    with torch.no_grad():
        teacher_logits = teacher(mels)
    loss = distillation_loss(student(mels), teacher_logits)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=3)
    args = parser.parse_args()
    teacher = AcousticModel(mel_bins=40, width=64, phones=30).eval()
    student = AcousticModel(mel_bins=40, width=16, phones=30).cuda()
    optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)
    for step in range(args.steps):
        mels = torch.randn(4, 100, 40).cuda()
        print(step, train_step(student, teacher, mels, optimizer))


if __name__ == "__main__":
    main()
