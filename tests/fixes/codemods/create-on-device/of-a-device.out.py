refused: torch.device makes no tensor
