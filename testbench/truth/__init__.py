"""The truth: from events and marks alone. Imports nothing from the estimators."""
