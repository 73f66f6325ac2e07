"""The project's extensions: feeds of rows, and the summary."""
