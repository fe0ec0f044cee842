"""Exports the crack detector on the build server, which has no GPU."""

import torch
from detector import EchoDetector

program = torch.export.export(EchoDetector().eval(), (torch.rand(8, 64),))
torch.export.save(program, "echo_detector.pt2")
