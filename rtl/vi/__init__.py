"""The VI engine: doorbells, work queues, scheduler, descriptors, translation, completions."""
