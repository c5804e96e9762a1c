-- Version 6 of a store: what a person has paused of a table ('nothing', 'pushes', 'pulls', 'all').

ALTER TABLE tables ADD COLUMN pause TEXT NOT NULL DEFAULT 'nothing';
