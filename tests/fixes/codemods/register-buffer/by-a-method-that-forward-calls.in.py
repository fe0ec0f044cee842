# spot: self.low = x.amin(0)
# cause: dataparallel-replica-state
class Scaler(nn.Module):
    def fit(self, x):
        self.low = x.amin(0)

    def forward(self, x):
        self.fit(x)
        return self.body(x - self.low)
