w = table[ids.to(table.device)]
