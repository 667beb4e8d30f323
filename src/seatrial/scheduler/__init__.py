"""Who goes WHERE: kube-scheduler v1.36.3."""
