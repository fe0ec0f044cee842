# spot: self.metrics = MetricCollection([Accuracy()])
class Eval(nn.Module):
    def __init__(self):
        super().__init__()
        self.metrics = MetricCollection([Accuracy()])
