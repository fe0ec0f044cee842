# index-to-device
w = table[ids]
