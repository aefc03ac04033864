"""What `doctor` says: from reports, plans and state to findings."""
