# spot: torch.full( (n, n), -1e9, )
mask = torch.full(
    (n, n),
    -1e9,
    device=device,
)  # causal
