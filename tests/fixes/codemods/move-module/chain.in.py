# spot: Net .build(8)
model = (
    Net
    .build(8)
)
