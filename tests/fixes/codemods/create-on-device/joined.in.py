# spot: torch.stack(rows)
z = torch.stack(rows)
