-- Version 9: a table for which no policy was chosen has the standard of the present settings.

-- Until now such a table held `local`, and one for which `local` was chosen held the same. The policies that the
-- configuration names are written again at each start.
UPDATE tables SET read_policy = 'standard' WHERE read_policy = 'local';
UPDATE tables SET write_policy = 'standard' WHERE write_policy = 'local';
