# move-tensor-at-line
print(f'{a + b}')
