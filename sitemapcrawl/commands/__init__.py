"""The project's commands: ``scrapy COMMAND``. Standard output carries data only."""
