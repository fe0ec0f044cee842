# spot: torch.tensor(row for row in rows)
z = torch.tensor(row for row in rows)
