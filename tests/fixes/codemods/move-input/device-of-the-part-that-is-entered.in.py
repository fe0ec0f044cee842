# spot: next(self.model.parameters()).device
# cause: input-on-wrong-shard
# wanted: cuda:0
# devices: self.model.get_input_embeddings().weight.device
# meets: self.model(ids)
class Judge:
    def __init__(self, model):
        self.model = model
        self.device = next(self.model.parameters()).device

    def judge(self, ids):
        ids = ids.to(self.device)
        return self.model(ids)
