# index-to-device devices=cpu,cuda:0 argument=index op=wrapper_CUDA__index_select
rows = torch.index_select(self.bank, 0, nearest)
