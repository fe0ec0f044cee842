# spot: (n, x.dtype)
# cause: dataparallel-replica-state
# devices: x.device
class Ramp(nn.Module):
    def forward(self, x, n):
        row = self.rows.get((n, x.dtype, x.device))
        if row is None:
            row = self.rows[n, x.dtype, x.device] = torch.linspace(0, 1, n, device=x.device)
        return row
