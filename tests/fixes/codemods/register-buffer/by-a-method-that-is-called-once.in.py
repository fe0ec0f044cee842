# spot: self.low = sample.amin(0)
# cause: dataparallel-replica-state
class Scaler(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, 1)

    def fit(self, sample):
        self.low = sample.amin(0)

    def forward(self, x):
        return self.body(x - self.low)
