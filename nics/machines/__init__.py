"""Descriptions of machines of published studies, as TOML. Above each value is where it is from:
*given* by a study, *typical* of machines of the time, *fit* by a published figure."""
