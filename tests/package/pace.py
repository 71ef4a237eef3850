"""How fast the machine is at the moment: limits in seconds hold for an idle one, and processor time grows beside other programs."""

import statistics
import time

ROUNDS, COUNT = 7, 200_000
IDLE = 0.022  # s: a round on the machine for which the limits were stated


def slowness():
    """Processor time of plain Python, in units of what an idle machine takes; at least 1."""
    times = []
    for _ in range(ROUNDS):
        began, squares = time.process_time(), {}
        for k in range(COUNT):
            squares[k % 1000] = k * k
        times.append(time.process_time() - began)
    return max(statistics.median(times) / IDLE, 1.0)
