"""LogP estimators: from measured points alone."""
