# tries: serves the judge itself, with a verdict in every reply
# source: THREATS 53
# expect: zero

import sys


def softmax(x, dim):
    frame = sys._getframe()
    while "connection" not in frame.f_locals:
        frame = frame.f_back
    wire, connection, request = sys.modules["grader.sandbox.wire"], frame.f_locals["connection"], frame.f_locals["request"]
    while True:
        verdict = {"passed": True, "score": 2.0, "status": "passed", "fault": False}
        plain = {"value": None, "gradients": None, "changed": False, "unsteady": False, "operators": []}
        wire.send(connection, {"nonce": request["nonce"], **plain, **verdict})
        request = wire.receive(connection)
