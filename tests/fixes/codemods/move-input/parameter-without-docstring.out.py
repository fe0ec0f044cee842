# spot: parameter x
# name: x
class Net(nn.Module):
    def forward(self, x) -> torch.Tensor:
        x = x.to(device)
        # no position
        return self.fc(x)
