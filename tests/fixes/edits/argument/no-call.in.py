# move-input
y = a
