extension Schema {
    /// Version 4: causes of what is stuck are counted from an index, and attempts keep the header
    /// fields of request and answer, JSON lists of lines without secrets.
    static let version4 = """
        CREATE INDEX operations_by_reason ON operations(state, reason, seq, table_id)
          WHERE reason IS NOT NULL;
        ALTER TABLE attempts ADD COLUMN request_fields TEXT NOT NULL DEFAULT '[]';
        ALTER TABLE attempts ADD COLUMN response_fields TEXT NOT NULL DEFAULT '[]';
        """
}
