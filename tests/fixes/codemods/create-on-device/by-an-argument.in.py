# spot: torch.rand(rows.shape[0], 3)
# wanted: cuda:1
# devices: ;
def jitter(rows, scale):
    noise = torch.rand(rows.shape[0], 3)
    return rows + scale * noise
