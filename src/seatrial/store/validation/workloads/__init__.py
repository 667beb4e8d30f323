"""Validation of workload kinds: Deployment, StatefulSet, DaemonSet, Job, CronJob, HorizontalPodAutoscaler."""
