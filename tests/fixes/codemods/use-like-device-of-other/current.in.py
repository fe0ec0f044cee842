# cause: hardcoded-device
# spot: torch.ones(3).cuda()
# wanted: cuda
# devices: (
def prior(height):
    rows = torch.ones(3).cuda()
    columns = torch.zeros(3).cuda()
    return rows * columns
