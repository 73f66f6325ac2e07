"""The project's pipelines, in the order in which an item passes them: ranking, limits, storing."""
