"""What serves surveys and takes answers: connections, limits, headers, documents, the key of the day, the writer."""
