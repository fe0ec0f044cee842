# spot: torch.ones(3)
# devices: ;
class Weighted(SFTTrainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.token_weight = torch.ones(3, device=self.args.device)
