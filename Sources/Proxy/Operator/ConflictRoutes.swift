import HTTPMessage
import HTTPTypes
package import SyncCore
package import TablesProtocol

/// The open conflicts, and their decisions.
package struct ConflictRoutes: Sendable {
    let tenants: TenantRegistry
    let exports: ListExport

    package static let list = Route<Page<ConflictDetail>>(
        .get, "/conflicts", "conflicts", .conflicts, "Open conflicts", answers: "Oldest first.",
        query: [
            OperationSelection.table, OperationSelection.text, OperationSelection.before,
            OperationSelection.actor,
            OperationSelection.column, Fields.after, Fields.limit, Fields.format,
        ])
    package static let resolveAll = Route<BulkResult>(
        .post, "/conflicts/resolve", "resolveConflicts", .conflicts, "Decide all that match alike",
        answers: "How many.",
        body: [
            OperationSelection.selection, all, plainChoice, holdSeconds, Fields.dryRun, part,
            OperationSelection.partAfter,
        ], bodyName: "ResolveAll")
    package static let send = Route<Answers.SentDecisions>(
        .post, "/conflicts/send", "sendDecisions", .conflicts,
        "Send decisions now that are held back so that they can be undone",
        answers: "They are queued.")
    package static let show = Route<ConflictDetail>(
        .get, "/conflicts/{id}", "conflict", .conflicts, "One conflict", answers: "The conflict.",
        names: QueueRoutes.id)
    package static let resolve = Route<Answers.ActionResult>(
        .post, "/conflicts/{id}/resolve", "resolveConflict", .conflicts, "Decide",
        answers: "Decided; it is sent at the next push.", names: QueueRoutes.id,
        body: [QueueRoutes.revision, choice, holdSeconds, item], bodyName: "Resolve",
        also: [409: "Changed"])

    var routes: [OperatorRoute] {
        [
            .later(Self.list, tenants, list),
            .later(Self.resolveAll, tenants, resolveAll),
            .later(Self.send, tenants) { tenant, _ in
                Answers.SentDecisions(held: try await tenant.store.sendDecisions())
            },
            .later(Self.show, tenants, show),
            .later(Self.resolve, tenants, resolve),
        ]
    }

    private static let all = Field<Bool>(
        "all", .boolean,
        "True: all open conflicts. It must be said where the filter is empty or left out, and only there."
    )
    private static let part = Field<Int>(
        "limit", .integer(1...Limits.pageElementsMax),
        "Decide so many of them, latest first, and name them; all at once unless given.")
    private static let choices = ["mine", "server", "merged", "newest", "both"]
    private static let plainChoice = Field<String>("choice", .word(choices), isRequired: true)
    package static let choice = Field<String>(
        "choice", .word(choices + ["edited"]), isRequired: true)
    private static let holdSeconds = Field<Int>(
        "holdSeconds", .integer(0...Limits.holdSecondsMax),
        "For how long what is left to send is held back, so that the decision can be undone before it is "
            + "sent. A sync that is asked for, and `/conflicts/send`, send it earlier.",
        keywords: ["default": .number(0)])
    package static let item = Field<JSONValue>(
        "item", .row,
        "Only with `edited`: the columns as they shall be (field by field is `edited` with the composed item)."
    )

    private func list(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Answered<Page<ConflictDetail>> {
        let filter = try OperationFilter(call.query)
        if let format = try ListFormat(of: call) {
            let list = try await tenant.store.lists.allConflicts(filter)
            return try exports.answer(
                call, tenant, format,
                ExportedList(list, named: "conflicts"))
        }
        let page = try await tenant.store.lists.conflicts(
            filter, after: call.cursor(), limit: call.limit)
        return Answered(page)
    }

    private func show(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> ConflictDetail {
        guard let detail = try await tenant.store.lists.conflict(call.parameter("id")) else {
            throw Problem.notFound("There is no such open conflict.")
        }
        return detail
    }

    private func resolve(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Answers.ActionResult {
        let resolution: Resolution
        if let choice = Self.plainChoice(in: call) {
            if call.body[Self.item] != nil {
                throw Problem.invalid("item goes with the choice edited.", pointer: "/item")
            }
            resolution = choice
        } else {
            resolution = .edited(try await call.editedColumns(Self.item, tenant))
        }
        let outcome = try await tenant.store.resolve(
            call.parameter("id"), revision: call.body.required(QueueRoutes.revision), resolution,
            holdSeconds: call.body[Self.holdSeconds] ?? 0)
        return try .init(outcome, noun: "open conflict")
    }

    /// Decides all conflicts that match by one choice. `edited` is for a single conflict only.
    private func resolveAll(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> BulkResult {
        guard let resolution = Self.plainChoice(in: call) else {
            throw Problem.invalid(
                "choice must be mine, server, merged, newest or both.", pointer: "/choice")
        }
        return try await call.bulk(
            .resolve(resolution, holdSeconds: call.body[Self.holdSeconds] ?? 0), tenant)
    }

    /// The choice in a body; nil for `edited`.
    private static func plainChoice(in call: OperatorCall) -> Resolution? {
        switch call.body[choice] {
        case "mine": .mine
        case "server": .server
        case "merged": .merged
        case "newest": .newest
        case "both": .both
        default: nil
        }
    }
}
