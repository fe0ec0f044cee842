# cause: loss-or-metric-state
# spot: Evaluator(10)
# owner: evaluator.metrics
# devices: device
device = torch.device("cuda")
evaluator = Evaluator(10)
evaluator.metrics.to(device)
evaluator.update(logits, target)
