extension Schema {
    /// Version 12: the header fields of its client that are sent with an operation, a JSON list of lists
    /// of name and value.
    static let version12 = """
        ALTER TABLE operations ADD COLUMN headers TEXT NOT NULL DEFAULT '[]';
        ALTER TABLE undo_points ADD COLUMN headers TEXT NOT NULL DEFAULT '[]';
        """
}
