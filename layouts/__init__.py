"""What RTL, host programs and firmware agree on, declared once. Imports no Amaranth."""
