"""Drives the target: builds simulators, runs host programs on them, measures, reports."""
