# spot: self.token_weight = torch.ones(10)
class RareTokens(trl.SFTTrainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.token_weight = torch.ones(10)
