# index-to-device
w = table[ids.to(table.device)]
