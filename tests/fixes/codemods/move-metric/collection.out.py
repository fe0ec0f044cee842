# spot: MetricCollection({ "accuracy": Accuracy(), })
# devices: accelerator.device
class Eval:
    def __init__(self, accelerator):
        self.metrics = MetricCollection({
            "accuracy": Accuracy(),  # micro
        }).to(accelerator.device)
