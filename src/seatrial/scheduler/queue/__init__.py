"""The scheduling queue: which pod is next, which ones wait, and what brings them back."""

from seatrial.scheduler.queue.nominator import PodNominator
from seatrial.scheduler.queue.queue import SchedulingQueue
from seatrial.scheduler.queue.queued import QueuedPod

__all__ = ["PodNominator", "QueuedPod", "SchedulingQueue"]
