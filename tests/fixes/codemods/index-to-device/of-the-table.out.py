# spot: rows
# meets: self.table.index_select(0, rows)
# wanted: cuda:0
# devices: ;
def pick(self, rows):
    return self.table.index_select(0, rows.to(self.table.device))
