extension Schema {
    /// Version 13: how many rows the largest page had that the backend gave of a table; null before any.
    static let version13 = """
        ALTER TABLE tables ADD COLUMN largest_page_rows INTEGER;
        """
}
