w = table[rows.to(table.device), cols.to(table.device)]
