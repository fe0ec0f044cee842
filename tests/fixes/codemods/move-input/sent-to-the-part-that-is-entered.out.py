# spot: ids.to(device)
# cause: input-on-wrong-shard
# wanted: cuda:0
# devices: model.first
# meets: self.embed(ids)
class Net(nn.Module):
    def forward(self, ids, mask):
        return self.body(self.embed(ids), mask)


def run(model, rows, device):
    for ids, mask, labels in rows:
        ids, mask, labels = ids.to(model.first), mask.to(model.first), labels.to(device)
        model(ids, mask).backward(labels)
