import HTTPMessage
import HTTPTypes
import Platform
import SyncCore
import TablesProtocol

/// The history: lists, a filter in a person's words, and undo.
package struct HistoryRoutes: Sendable {
    let tenants: TenantRegistry
    let exports: ListExport
    let capabilities: Capabilities
    let now: @Sendable () -> Instant

    package static let list = Route<Answers.HistoryPage>(
        .get, "/history", "history", .history, "What happened", answers: "Newest first.",
        query: [
            text, when, from, to, zone, kind, by, table, item, entry, Fields.after, Fields.limit,
            Fields.format,
        ])
    package static let undoDecisions = Route<Answers.UndoneDecisions>(
        .post, "/history/undo", "undoDecisions", .history,
        "Undo the latest decision about each of some operations",
        details:
            "A conflict that was settled or an operation that was discarded, as far as it can be undone.",
        answers: "What became of each.", body: [operations, dryRun])
    package static let undo = Route<Answers.UndoResult>(
        .post, "/history/{id}/undo", "undo", .history, "Undo one entry",
        answers: "Undone by a new operation, or before it was sent.",
        names: ["id": "Id of the entry."], body: [dryRun], also: [409: "Changed"])
    static let samples = Route<Page<Answers.Sample>>(
        .get, "/samples", "samples", .history, "Minute samples",
        answers:
            "Oldest first, all of the time asked for. The last one has the minute that is not over yet: "
            + "the sums are what the ledger grew by in that time.",
        query: [sinceSeconds, stepSeconds])

    var routes: [OperatorRoute] {
        [
            .later(Self.list, tenants, list),
            .later(Self.undoDecisions, tenants) { tenant, call in
                let ids = try call.body.required(Self.operations)
                let outcome = try await tenant.store.undoDecisions(ids, dryRun: call.isDryRun)
                return Answers.UndoneDecisions(outcome, dryRun: call.isDryRun)
            },
            .later(Self.undo, tenants, undo),
            .later(Self.samples, tenants, samples),
        ]
    }

    package static let text = Field<String>(
        "q", .anyText,
        "Text that an entry shows: in the sentence, the item's title, id or columns, the table's name, who did "
            + "it, or what happened in the dashboard's words.")
    package static let when = Field<String>(
        "when", .anyText,
        "When it happened, in a person's words: `today`, `yesterday`, `last Tuesday`, `2026-11-24`, "
            + "`2026-11-24 14:30`, `2026-11-24T13:30:00Z`, `7d`, `12h`, `30m`. Such a list is in the order of "
            + "the times.")
    package static let from = Field<String>(
        "from", .anyText, "From when, in such words; not with `when`.")
    package static let to = Field<String>(
        "to", .anyText,
        "Until when, in such words, with all of the day or minute that they name (`7d`: until 7 days ago); not "
            + "with `when`.")
    package static let zone = Field<String>(
        "zone", .anyText,
        "Name of the time zone of these words, such as `Europe/Paris`; UTC unless given.")
    package static let kind = Field<String>(
        "kind", .anyText,
        "What happened: kinds with commas, also in the dashboard's words; of writes also `inserted`, `changed`, "
            + "`deleted` and `brought back`.")
    package static let by = Field<String>(
        "by", .anyText,
        "Who did it: `person`, `engine`, `client` for every client, or the name of an access, with `client:` "
            + "before it where the name is one of these words. `you` and `understudy` are the first two."
    )
    package static let table = Field<String>("table", .anyText, "Only this table.")
    package static let item = Field<String>(
        "item", .anyText,
        "Only the item with this id, or with this id before the backend assigned one.")
    package static let entry = Field<Int64>(
        "entry", .anyInteger, "Only the entry with this number.")
    package static let operations = Field<[String]>(
        "operations", .list(.anyText, counts: 1...Limits.undoneDecisions), isRequired: true)
    package static let dryRun = Field<Bool>(
        "dryRun", .boolean, "True: only say what it would do.")
    private static let sinceSeconds = Field<Int>(
        "sinceSeconds", .integer(1...Limits.sampleSecondsMax),
        "How far back; an hour unless given.")
    private static let stepSeconds = Field<Int>(
        "stepSeconds", .integer(Limits.sampleStepSeconds...Limits.sampleStepSecondsMax),
        "Minutes are added up to steps of this length; one minute unless given.",
        keywords: ["multipleOf": .number(Limits.sampleStepSeconds)])
}

// The answers.
extension HistoryRoutes {
    private func list(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Answered<Answers.HistoryPage> {
        let filter = try await filter(call.query, tenant)
        if let format = try ListFormat(of: call) {
            let list = try await tenant.store.lists.allHistory(filter)
            return try exports.answer(
                call, tenant, format,
                ExportedList(list, named: "history"))
        }
        let after = call.query[Fields.after]
        guard after.map({ StoreLists.isPlace($0, in: filter) }) ?? true else {
            throw Problem.invalid(OperatorCall.noCursor, parameter: "after")
        }
        let page = try await tenant.store.lists.history(filter, after: after, limit: call.limit)
        return Answered(
            .init(
                items: page.items,
                next: page.next, total: page.total, from: filter.period.from,
                to: filter.period.to))
    }

    private func filter(_ query: JSONValue, _ tenant: Tenant) async throws -> HistoryFilter {
        var filter = HistoryFilter(
            text: query[Self.text], actor: try await actor(query[Self.by], tenant),
            table: query[Self.table].nonEmpty, period: try period(query))
        if let words = query[Self.kind].nonEmpty { try Self.take(kinds: words, &filter) }
        filter.item = query[Self.item].nonEmpty
        filter.entry = query[Self.entry]
        return filter
    }

    /// The period that the words of a query name.
    private func period(_ query: JSONValue) throws(Problem) -> Period {
        let zone = try Self.rules(ofZone: query[Self.zone])
        let words = PeriodWords(now: now(), zone: zone)
        func read<Value>(
            _ field: Field<String>, _ read: (String) throws(PeriodWords.Misunderstood) -> Value?
        ) throws(Problem) -> Value? {
            guard let text = query[field].nonEmpty else { return nil }
            do throws(PeriodWords.Misunderstood) {
                return try read(text)
            } catch {
                let name = field.description.name
                throw .invalid("\(name) \(error.sentence)", parameter: name)
            }
        }
        if let period = try read(Self.when, words.period) {
            guard query[Self.from].nonEmpty == nil, query[Self.to].nonEmpty == nil else {
                throw .invalid(
                    "when names the whole time: leave it or from and to out.", parameter: "when")
            }
            return period
        }
        let period = Period(
            from: try read(Self.from, words.period)?.from, to: try read(Self.to, words.end))
        if let from = period.from, let to = period.to, to <= from {
            throw .invalid("to is before from.", parameter: "to")
        }
        return period
    }

    private static func rules(ofZone name: String?) throws(Problem) -> TimeZoneRules {
        guard let name = name.nonEmpty else { return .utc }
        guard let zone = TimeZoneRules(named: name) else {
            throw .invalid(
                "zone must be the name of a time zone, such as Europe/Paris.", parameter: "zone")
        }
        return zone
    }

    private static func take(kinds text: String, _ filter: inout HistoryFilter) throws(Problem) {
        filter.kinds = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            let name = String(word).trimmed
            if let kind = HistoryWords.kind(name) {
                filter.kinds?.insert(kind)
            } else if let effect = WriteEffect(rawValue: name.lowercased()) {
                filter.effects.insert(effect)
            } else {
                throw .invalid(
                    "kind must be what happened, with commas: there is no \"\(name)\""
                        + NearestName.hint(name, in: HistoryWords.all), parameter: "kind")
            }
        }
    }

    private func actor(
        _ text: String?, _ tenant: Tenant
    ) async throws -> SyncCore.Actor? {
        guard let text = text.nonEmpty else { return nil }
        if let actor = HistoryWords.actor(text) { return actor }
        let isClient = try await tenant.store.lists.hasEntry(ofClient: text)
        guard isClient || capabilities.all.contains(where: { $0.capability.name == text }) else {
            throw Problem.invalid(
                "by must be you, understudy, client, or the name of an access.", parameter: "by")
        }
        return .namedClient(text)
    }

    /// Undoes one entry.
    private func undo(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Answers.UndoResult {
        guard let entry = Int64(call.parameter("id")) else {
            throw Problem.notFound("There is no such entry in the history.")
        }
        let undoing = try await tenant.store.undo(entry, dryRun: call.isDryRun)
        let result = try Answers.ActionResult(undoing.outcome, noun: "entry in the history")
        guard let effect = undoing.effect else { throw Problem.notFound(undoing.sentence) }
        return .init(
            effect: effect, sentence: undoing.sentence, dryRun: call.isDryRun,
            operation: result.operation)
    }

    /// The samples of each minute.
    private func samples(
        _ tenant: Tenant, _ call: OperatorCall
    ) async throws -> Page<Answers.Sample> {
        let seconds = call.query[Self.sinceSeconds] ?? Limits.sampleSeconds
        let step = call.query[Self.stepSeconds] ?? Limits.sampleStepSeconds
        guard step % Limits.sampleStepSeconds == 0 else {
            throw Problem.invalid(
                "stepSeconds must be whole minutes: a multiple of 60.", parameter: "stepSeconds")
        }
        let since = now().adding(seconds: -Int64(seconds))
        let samples = try await tenant.engine.samples(since: since, stepSeconds: step)
        return Page(samples.map { Answers.Sample($0) })
    }
}

extension String? {
    /// The text; nil for an empty one.
    fileprivate var nonEmpty: String? { self?.isEmpty == true ? nil : self }
}

extension String {
    /// The text without blanks around it.
    fileprivate var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
