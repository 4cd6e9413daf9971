# tries: fetches the answer from a server
# source: THREATS 71, 72
# expect: zero

import socket


def softmax(x, dim):
    with socket.create_connection(("127.0.0.1", 47821), timeout=1) as server:
        space = {"torch": torch}
        exec(server.recv(10_000).decode(), space)
    return space["softmax"](x, dim)
