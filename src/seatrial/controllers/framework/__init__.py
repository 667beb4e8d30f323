"""What controllers are built from: the work queue, the pod index, pod control, controller revisions, conditions."""
