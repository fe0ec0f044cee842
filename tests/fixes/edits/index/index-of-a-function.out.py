rows = torch.index_select(self.bank, 0, nearest.to(self.bank.device))
