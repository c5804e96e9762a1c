extension Schema {
    /// Version 11: how many rows the backend gives at most in one page of a table; null while it gave
    /// as many as it was asked for.
    static let version11 = """
        ALTER TABLE tables ADD COLUMN page_rows INTEGER;
        """
}
