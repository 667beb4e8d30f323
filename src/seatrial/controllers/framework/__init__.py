"""The building blocks of controllers: the work queue, the pod index, pod control, controller revisions, conditions."""
