extension Schema {
    /// Version 6: only ids with capital letters are in the index that finds an id whatever its case. One
    /// in small letters is found by the exact id, so that an insert of it changes one page less.
    static let version6 = """
        DROP INDEX items_without_case;
        CREATE INDEX items_without_case ON items(table_id, id COLLATE NOCASE)
          WHERE id <> lower(id);
        """
}
