import HTTPMessage
import HTTPTypes
package import SyncCore
package import TablesProtocol

/// The queue: lists of operations, and what is done with one, or with all that match.
package struct QueueRoutes: Sendable {
    let tenants: TenantRegistry
    let exports: ListExport

    package static let list = Route<Page<OperationSummary>>(
        .get, "/operations", "operations", .operations, "The queue", answers: "In queue order.",
        query: OperationSelection.filter + [Fields.after, sort, skip, Fields.limit, Fields.format])
    package static let outcomes = Route<Page<OperationOutcome>>(
        .post, "/operations/outcomes", "operationOutcomes", .operations,
        "Where some operations are now, counted by state, status and cause",
        answers: "The most first.", body: [asked])
    package static let groups = Route<Page<OperationGroup>>(
        .get, "/operations/groups", "operationGroups", .operations,
        "The queue by cause: operations that have a reason",
        answers: "By state, status and cause, the most first; `total` counts all causes.",
        query: OperationSelection.filter + [Fields.limit])
    package static let retryAll = Route<BulkResult>(
        .post, "/operations/retry", "retryOperations", .operations, "Retry all that match",
        answers: "How many.", body: OperationSelection.bulk, bodyName: "BulkRequest",
        needsBody: true)
    package static let discardAll = Route<BulkResult>(
        .post, "/operations/discard", "discardOperations", .operations, "Discard all that match",
        answers: "How many.", body: OperationSelection.bulk, bodyName: "BulkRequest",
        needsBody: true)
    package static let assign = Route<BulkResult>(
        .post, "/operations/assign", "assignOperations", .operations,
        "Give what was written without a sign-in to the only user since, whose operations they become",
        answers: "How many.", of: .program, body: [user, dryAssignment, isUndone],
        bodyName: "Assignment", also: [404: "NotFound", 409: "Changed"])
    package static let show = Route<OperationDetail>(
        .get, "/operations/{id}", "operation", .operations, "One operation with all its attempts",
        answers: "The operation.", names: id)
    package static let edit = Route<Answers.ActionResult>(
        .patch, "/operations/{id}", "editOperation", .operations,
        "Edit what a waiting, conflicting or quarantined operation sends", answers: "Edited.",
        names: id, body: [revision, columns], bodyName: "EditOperation", also: [409: "Changed"])
    package static let retry = Route<Answers.ActionResult>(
        .post, "/operations/{id}/retry", "retryOperation", .operations, "Try again now",
        answers: "Queued again.", names: id, body: [readRevision], bodyName: "Revision",
        also: [409: "Changed"])
    package static let discard = Route<Answers.ActionResult>(
        .post, "/operations/{id}/discard", "discardOperation", .operations,
        "Give it up; the row goes back to the server's", answers: "Discarded.", names: id,
        body: [readRevision], bodyName: "Revision", also: [409: "Changed"])

    var routes: [OperatorRoute] {
        [
            .later(Self.list, tenants, list),
            .later(Self.outcomes, tenants, isChange: false, outcomes),
            .later(Self.groups, tenants, groups),
            .later(Self.retryAll, tenants) { try await $1.bulk(.retry, $0) },
            .later(Self.discardAll, tenants) { try await $1.bulk(.discard, $0) },
            .later(Self.assign, assign),
            .later(Self.show, tenants, show),
            .later(Self.edit, tenants, edit),
            .later(Self.retry, tenants, retry),
            .later(Self.discard, tenants, discard),
        ]
    }

    static let id = ["id": "Id of the operation."]

    package static let sort = Field<OperationOrder>(
        "sort", .words(of: OperationOrder.self),
        "The order: of the queue (oldest first), newest first, most attempts first, or by table. Only that of "
            + "the queue has `after`; the others go by `skip`.",
        keywords: ["default": .string(OperationOrder.queue.rawValue)])
    static let skip = Field<Int>(
        "skip", .integer(0...Int(Int32.max)),
        "Operations to leave out, after the cursor: a window into a long queue.",
        keywords: ["default": .number(0)])

    static let asked = Field<[String]>(
        "operations", .list(.anyText, counts: 1...Limits.askedOperations), isRequired: true)
    package static let user = Field<String>(
        "identity", .anyText, "The user, as `/identities` names them.", isRequired: true)
    private static let dryAssignment = Field<Bool>(
        "dryRun", .boolean,
        "True: only count. `refused` are those that the user's store would not take.")
    package static let isUndone = Field<Bool>(
        "undo", .boolean, "True: take back what was given last, as far as it was not sent.")
    private static let readRevision = Field<Int>(
        "revision", .anyInteger,
        "The revision that was read; another one answers 409 `operation-changed`.",
        isRequired: true)
    package static let revision = Field<Int>("revision", .anyInteger, isRequired: true)
    package static let columns = Field<JSONValue>(
        "columns", .row, "The columns to change in the operation's payload.", isRequired: true)
}

// The answers.
extension QueueRoutes {
    private func list(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Answered<Page<OperationSummary>> {
        let filter = try OperationFilter(call.query)
        let order = call.query[Self.sort] ?? .queue
        if let format = try ListFormat(of: call) {
            let list = try await tenant.store.lists.allOperations(filter, sorted: order)
            return try exports.answer(
                call, tenant, format,
                ExportedList(list, named: "operations"))
        }
        let after = try call.cursor()
        if order != .queue, after != nil {
            throw Problem.invalid(
                "after goes with the order of the queue; with another sort use skip.",
                parameter: "after")
        }
        let page = try await tenant.store.lists.operations(
            filter, sorted: order, after: after, skip: call.query[Self.skip] ?? 0,
            limit: call.limit)
        return Answered(page)
    }

    private func groups(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Page<OperationGroup> {
        let groups = try await tenant.store.lists.operationGroups(
            OperationFilter(call.query), limit: call.limit)
        return groups
    }

    private func outcomes(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Page<OperationOutcome> {
        let outcomes = try await tenant.store.lists.outcomes(of: call.body.required(Self.asked))
        return Page(outcomes)
    }

    private func show(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> OperationDetail {
        guard let detail = try await tenant.store.lists.operation(call.parameter("id")) else {
            throw Problem.notFound("There is no such operation.")
        }
        return detail
    }

    private func retry(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Answers.ActionResult {
        let outcome = try await tenant.store.retry(
            call.parameter("id"), revision: call.body.required(Self.revision))
        return try .init(outcome, noun: "operation")
    }

    private func discard(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Answers.ActionResult {
        let outcome = try await tenant.store.discard(
            call.parameter("id"), revision: call.body.required(Self.revision))
        return try .init(outcome, noun: "operation")
    }

    private func edit(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Answers.ActionResult {
        let outcome = try await tenant.store.edit(
            call.parameter("id"), revision: call.body.required(Self.revision),
            columns: call.editedColumns(Self.columns, tenant))
        return try .init(outcome, noun: "operation")
    }

    private func assign(_ call: OperatorCall) async throws -> BulkResult {
        let (matched, taken) = try await tenants.assign(
            to: call.body.required(Self.user), isUndone: call.body[Self.isUndone] ?? false,
            isDryRun: call.isDryRun)
        return .init(
            matched: matched, changed: call.isDryRun ? 0 : taken, refused: matched - taken,
            dryRun: call.isDryRun)
    }
}

extension OperatorCall {
    /// The user columns of an object in the body; its system columns are ignored. A name such as `createdAt`
    /// is a user column where the item of the call's operation has a column of its own with it, which backends
    /// of other generations allow.
    func editedColumns(_ field: Field<JSONValue>, _ tenant: Tenant) async throws -> Columns {
        var ignored: Set = ["id", "createdAt", "updatedAt", "version", "deleted"]
        if case .object(let members) = body[field],
            members.contains(where: { ignored.contains($0.name) })
        {
            let detail = try await tenant.store.lists.operation(parameter("id"))
            for row in [detail?.base, detail?.mine, detail?.server] {
                ignored.subtract(row.map { Columns(stored: $0.text).names } ?? [])
            }
        }
        return try Columns(body[field], name: field.description.name, without: ignored)
    }
}

extension Columns {
    /// The columns of an object in a request.
    init(_ value: JSONValue?, name: String, without ignored: Set<String>) throws(Problem) {
        guard case .object(let members) = value else {
            throw .invalid("\(name) must be an object with the columns.", pointer: "/\(name)")
        }
        let own = members.filter { !ignored.contains($0.name) }
        var spellings: [String: String] = [:]
        for column in own.map(\.name) {
            let key = column.lowercased()
            if key == "id" {
                throw .invalid(
                    "\(column) is the item's id in another spelling, and no column. Leave it out.",
                    pointer: "/\(name)")
            }
            if let other = spellings.updateValue(column, forKey: key), other != column {
                throw .invalid(
                    "\(other) and \(column) are two spellings of one column. Send it once.",
                    pointer: "/\(name)")
            }
        }
        do {
            try self.init(parsing: JSONValue.object(own).text)
        } catch {
            throw .invalid("\(name) cannot be read: \(error)")
        }
    }
}

extension OperationOrder: Codable {}

extension Answers.ActionResult {
    /// The answer to an action on an operation.
    /// - Parameter noun: what the action was for, for the sentence of a 404.
    init(_ outcome: ActionOutcome, noun: String) throws(Problem) {
        switch outcome {
        case .done(let operation): self.init(operation: operation)
        case .changed(let current):
            throw Problem(
                status: .conflict, code: "operation-changed",
                detail: "It changed since; look again and decide anew.",
                current: current)
        case .notFound: throw .notFound("There is no such \(noun).")
        case .refused(let reason):
            throw Problem(status: .conflict, code: "refused", detail: reason)
        }
    }
}
