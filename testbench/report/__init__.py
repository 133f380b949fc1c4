"""Tables, result files and plots."""
