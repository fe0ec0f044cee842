# spot: torch.tensor(words, device=self.net.end.weight.device)
# cause: input-on-wrong-shard
# wanted: cuda:0
# devices: next(self.net.table.parameters()).device
# meets: self.table(ids)
class Judge:
    def judge(self, words):
        ids = torch.tensor(words, device=next(self.net.table.parameters()).device)
        return self.net(ids)


class Net(nn.Module):
    def forward(self, ids):
        return self.end(self.table(ids).to(self.end.weight.device))
