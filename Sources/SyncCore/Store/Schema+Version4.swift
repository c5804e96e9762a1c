extension Schema {
    /// Version 4: lists are ordered by creation from an index, causes of what is stuck are counted from an index, decisions are found by their
    /// operation, and attempts keep the header fields of request and answer, JSON lists of lines
    /// without secrets.
    static let version4 = """
        CREATE INDEX items_by_creation ON items(table_id, created_at);
        CREATE INDEX operations_by_reason ON operations(state, reason, seq, table_id)
          WHERE reason IS NOT NULL;
        CREATE INDEX history_decisions ON history(op_id)
          WHERE undoable = 1 AND kind IN ('resolved', 'discarded');
        ALTER TABLE attempts ADD COLUMN request_fields TEXT NOT NULL DEFAULT '[]';
        ALTER TABLE attempts ADD COLUMN response_fields TEXT NOT NULL DEFAULT '[]';
        """
}
