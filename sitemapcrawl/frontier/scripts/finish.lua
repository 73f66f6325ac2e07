-- Ends a claim with its outcome; the record and the counts change with it or not at all.
-- KEYS: tag. ARGV: finish()'s arguments. Returns 1, or 0 if the token is not the lease's any more.
return finish(finish_arguments(1)) and 1 or 0
