"""The scheduling queue: which pod is next, which ones wait, and what brings them back."""

from seatrial.scheduler.queue.nominator import PodNominator
from seatrial.scheduler.queue.queued_pod_info import QueuedPod, arrival_order
from seatrial.scheduler.queue.scheduling_queue import SchedulingQueue
