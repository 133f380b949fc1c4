"""What host programs use. Host programs take target time only in operations of their host port."""
