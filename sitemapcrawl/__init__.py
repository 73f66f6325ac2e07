"""Find every sitemap of a set of sites, read them all, rank their URLs, share them in Redis."""

__version__ = "0.1.0"
