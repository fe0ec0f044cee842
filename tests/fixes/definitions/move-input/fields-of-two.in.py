# spot: graph.pos, rows.y = graph.pos.to(gpu), rows.y.to(gpu)
# cause: input-not-moved
# name: edge_index
# devices: gpu
def run(net, graph, rows, gpu):
    graph.pos, rows.y = graph.pos.to(gpu), rows.y.to(gpu)
    return net(graph.pos, graph.edge_index)
