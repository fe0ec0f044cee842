# spot: return x
class Loop:
    def sent(self, x, device="cuda"):
        if isinstance(x, torch.Tensor):
            return x.cuda()
        elif isinstance(x, (tuple, set)):
            return type(x)(self.sent(v, device=device) for v in x)
        elif isinstance(x, Mapping):
            return {k: self.sent(v) for k, v in x.items()}
        return x
