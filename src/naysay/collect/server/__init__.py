"""Parts of the server: connections, limits, headers, documents, and the key of the day."""
