"""The project's middlewares; each decides one thing."""
