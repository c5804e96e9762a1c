import HTTPTypes

extension TableCall {
    /// Reads the conditions that servers of the client's generation look at.
    ///
    /// 1. First generation: `If-None-Match` of a read, `If-Match` of a write.
    /// 2. Second: none of a read; of a write `If-Match`, else the version in the body.
    /// 3. Third: all four fields of both. Dates are compared as by the server of the client's family,
    ///    those of `PATCH` as by the only one that has it.
    /// - Throws: ``TablesError`` for an If-Match that the servers refuse.
    mutating func readConditions(_ fields: HTTPFields) throws(TablesError) {
        let isRead: Bool
        var body: ItemBody?
        switch verb {
        case .list, .insert: return
        case .get: isRead = true
        case .update(_, let sent), .replace(_, let sent): (isRead, body) = (false, sent)
        case .delete, .undelete: isRead = false
        }
        conditions.tests = body?.tests ?? []
        switch generation {
        case .mobileServices where isRead:
            // Several tags and weak ones are fine here.
            conditions.ifNoneMatch = IfMatch.parse(fields[.ifNoneMatch], generation: .datasync)
        case .mobileApps where isRead: break
        case .mobileServices, .mobileApps:
            conditions.ifMatch = IfMatch.parse(fields[.ifMatch], generation: generation)
            if case .invalid(let field) = conditions.ifMatch { throw .invalidIfMatch(field) }
            if conditions.ifMatch == .absent, let version = body?.version {
                conditions.ifMatch = .versions([version])
            }
        case .datasync:
            conditions.ifMatch = IfMatch.parse(fields[.ifMatch], generation: .datasync)
            conditions.ifNoneMatch = IfMatch.parse(fields[.ifNoneMatch], generation: .datasync)
            conditions.unmodifiedSince = Self.date(fields[.ifUnmodifiedSince])
            conditions.modifiedSince = Self.date(fields[.ifModifiedSince])
            var isPatch = false
            if case .update = verb { isPatch = true }
            conditions.dateRule = client == .toolkit && !isPatch ? .toolkit : .datasync
        }
    }

    /// A date that cannot be read is no condition, as HTTP has it.
    private static func date(_ field: String?) -> Instant? {
        field.flatMap { Instant(httpDate: $0) }
    }
}
