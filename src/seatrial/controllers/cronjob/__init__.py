"""The CronJob controller and its schedules. Upstream: pkg/controller/cronjob (v1.36)."""
