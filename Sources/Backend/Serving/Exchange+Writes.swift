import HTTPMessage
import HTTPTypes
import TablesProtocol

extension Exchange {
    /// `POST /tables/{table}`.
    func insert(_ name: TableName) throws -> Outcome {
        guard let options = try found(name)?.options ?? self.options.dynamicTable else {
            throw noTable(name)
        }
        let sent = try sent(options)
        if let id = sent.id { try check(id: id, options) }
        // The name is checked before the table comes into being, so that a refusal leaves nothing.
        var table = try table(name, creating: true)
        var columns = withDefaults(try kept(sent.columns, &table), table)
        if let user = try owner(in: options) { columns[Self.owner] = .string(user) }
        let id = newID(sent, &table)
        if let old = try Items.find(database, table, id) {
            return .exists(old, sent: call.request.body)
        }
        let stamp = stamp(&table)
        var row = Row(
            id: id, columns: columns, createdAt: stamp, updatedAt: stamp, revision: 0, version: "",
            deleted: false)
        advance(&row, to: stamp)
        if profile.isNode, let version = sent.version {
            row.version = Base64.encoded(version.utf8)
            row.revision = 0
        }
        if profile.generation == .datasync { row.deleted = sent.deleted ?? false }
        try Items.insert(database, table, row)
        try Tables.save(database, table)
        try log(.insert, table, id)
        return .inserted(row, sent: sent.all)
    }

    /// `PATCH /tables/{table}/{id}`.
    func update(_ name: TableName, _ id: String) throws -> Outcome {
        var table = try table(name)
        let sent = try sent(table.options)
        if let refusal = idMismatch(sent, id) { throw refusal }
        if profile.generation == .mobileServices, sent.all.names.allSatisfy({ $0 == "id" }),
            try firstCondition(table.options) == nil
        {
            return .unchanged(id: id)
        }
        guard var row = try find(table, id) else { return .missing(id: id) }
        if let refusal = changesSystemProperties(sent, row) { throw refusal }
        let undeletes = profile.undelete == .patch && sent.deleted == false && row.deleted
        if !undeletes, let outcome = refuseDeleted(row) { return outcome }
        if let outcome = mismatch(row, sent, table) { return outcome }
        if let patch = sent.patch { try check(patch, row) }
        let columns = try kept(sent.columns, &table)
        if let outcome = try withoutColumns(row, sent, columns, undeletes) { return outcome }
        row.columns.merge(columns)
        if let deleted = sent.deleted, profile.generation != .mobileServices {
            row.deleted = deleted
        }
        advance(&row, to: stamp(&table))
        try Items.update(database, table, row)
        try Tables.save(database, table)
        try log(undeletes ? .undelete : .update, table, id)
        return .changed(row, sent: sent.all)
    }

    /// `PATCH /tables/{table}`: the Node server takes the id from the body.
    func updateByBody(_ name: TableName) throws -> Outcome {
        let table = try table(name)
        let sent = try sent(table.options)
        guard let id = sent.id else {
            if sent.columns.isEmpty {
                throw Refusal(500, "SQLITE_ERROR: near \"WHERE\": syntax error")
            }
            return .missing(id: "")
        }
        return try update(name, id)
    }

    /// `PUT /tables/{table}/{id}`: what the body leaves out is gone.
    func replace(_ name: TableName, _ id: String) throws -> Outcome {
        var table = try table(name)
        let sent = try sent(table.options)
        if let refusal = idMismatch(sent, id) { throw refusal }
        guard var row = try find(table, id) else { return .missing(id: id) }
        if let outcome = refuseDeleted(row) { return outcome }
        if let outcome = mismatch(row, sent, table) { return outcome }
        let wasDeleted = row.deleted
        row.columns = withDefaults(try kept(sent.columns, &table), table)
        row.deleted = sent.deleted ?? false
        advance(&row, to: stamp(&table))
        try Items.update(database, table, row)
        try Tables.save(database, table)
        try log(wasDeleted && !row.deleted ? .undelete : .replace, table, id)
        return .changed(row, sent: sent.all)
    }

    /// `DELETE /tables/{table}/{id}`.
    func delete(_ name: TableName, _ id: String) throws -> Outcome {
        var table = try table(name)
        if profile.generation == .mobileServices { _ = try firstCondition(table.options) }
        guard var row = try find(table, id) else { return .missing(id: id) }
        if row.deleted, let outcome = deletedTwice(row) { return outcome }
        if let outcome = mismatch(row, nil, table) { return outcome }
        if table.options.softDelete, !table.isPlain(profile.generation) {
            row.deleted = true
            advance(&row, to: stamp(&table))
            try Items.update(database, table, row)
            try Tables.save(database, table)
        } else {
            try Items.remove(database, table, id)
        }
        try log(.delete, table, id)
        return .deleted(row)
    }

    /// `POST /tables/{table}/{id}`.
    func undelete(_ name: TableName, _ id: String) throws -> Outcome {
        var table = try table(name)
        if profile.generation == .mobileServices {
            if !table.options.softDelete || table.isPlain(profile.generation) {
                throw Refusal(400, "The undelete operation is not supported on this table.")
            }
            if !call.request.body.isEmpty {
                throw Refusal(400, "An undelete request must not have content.")
            }
            _ = try firstCondition(table.options)
        }
        guard var row = try find(table, id) else { return .missing(id: id) }
        if let outcome = mismatch(row, nil, table) { return outcome }
        row.deleted = false
        advance(&row, to: stamp(&table))
        try Items.update(database, table, row)
        try Tables.save(database, table)
        try log(.undelete, table, id)
        return .undeleted(row)
    }

    private func newID(_ sent: Sent, _ table: inout TableRecord) -> String {
        switch table.options.idKind {
        case .integer:
            table.lastNumber += 1
            return String(table.lastNumber)
        case .string:
            return sent.id ?? random.id(profile.flavour == .dotnet ? .datasync : profile.generation)
        }
    }

    private func log(_ kind: Effect.Kind, _ table: TableRecord, _ id: String) throws {
        try Effects.add(
            database,
            Effect(
                number: 0, table: table.name.text, itemID: id, kind: kind,
                method: call.method.rawValue, idempotencyKey: call.field("Idempotency-Key"),
                at: now))
    }
}

extension Exchange {
    /// The next `updatedAt` of a table.
    func stamp(_ table: inout TableRecord) -> Instant {
        let next: Instant
        switch options.stamps {
        case .increasing, .none:
            let last = Instant(ticks: table.lastStamp)
            next = Instant(
                milliseconds: table.lastStamp == 0
                    ? now.milliseconds : max(now.milliseconds, last.milliseconds + 1))
        case .ties(let step):
            let step = Int64(max(step, 1))
            next = Instant(milliseconds: now.milliseconds / step * step)
        case .subMillisecond:
            next = Instant(ticks: max(now.ticks, table.lastStamp + 1))
        }
        table.lastStamp = max(table.lastStamp, next.ticks)
        return next
    }

    /// Gives a changed row its new stamp and version.
    func advance(_ row: inout Row, to stamp: Instant) {
        row.updatedAt = stamp
        row.revision += 1
        switch options.versions {
        case .counter: row.version = Base64.encoded(String(row.revision).utf8)
        case .random: row.version = Base64.encoded(random.bytes(16))
        }
    }
}
