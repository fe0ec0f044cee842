# index-to-device
w = table[rows, cols]
