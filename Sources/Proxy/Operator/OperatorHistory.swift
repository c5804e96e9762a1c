import HTTPMessage
import Platform
import SyncCore
import TablesProtocol

// The history: lists, a filter in a person's words, and undo.
extension OperatorAPI {
    /// `GET /history`: lists the history.
    func history(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let filter = try await historyFilter(call, tenant)
        if let format = try ListFormat(call) {
            return try await exportHistory(call, tenant, filter, format)
        }
        let (limit, after) = (try call.limit(), call.query["after"])
        guard after.map({ Store.isPlace($0, in: filter) }) ?? true else {
            throw .invalid(OperatorCall.noCursor, parameter: "after")
        }
        let page = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.history(filter, after: after, limit: limit)
        }
        return .json(
            Answers.HistoryPage(
                items: page.items, next: page.next, total: page.total, from: filter.period.from,
                to: filter.period.to))
    }

    private func exportHistory(
        _ call: OperatorCall, _ tenant: Tenant, _ filter: HistoryFilter, _ format: ListFormat
    ) async throws(Problem) -> Response {
        let list = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.allHistory(filter)
        }
        return try export(call, tenant, format, ExportedList(list, named: "history"))
    }

    private func historyFilter(
        _ call: OperatorCall, _ tenant: Tenant
    ) async throws(Problem) -> HistoryFilter {
        var filter = HistoryFilter(
            text: call.query["q"], actor: try await actor(call.query["by"], tenant),
            table: call.query["table"].nonEmpty, period: try period(call))
        if let words = call.query["kind"].nonEmpty { try Self.take(kinds: words, &filter) }
        filter.item = call.query["item"].nonEmpty
        filter.entry = call.query["entry"].flatMap { Int64($0) }
        return filter
    }

    /// The period that the words of a query name.
    private func period(_ call: OperatorCall) throws(Problem) -> Period {
        let zone = try Self.zone(call.query["zone"])
        let words = PeriodWords(now: now(), zone: zone)
        let (from, to) = (call.query["from"].nonEmpty, call.query["to"].nonEmpty)
        func read<Value>(
            _ name: String, _ read: (String) throws(PeriodWords.Misunderstood) -> Value?
        ) throws(Problem) -> Value? {
            guard let text = call.query[name].nonEmpty else { return nil }
            do throws(PeriodWords.Misunderstood) {
                return try read(text)
            } catch {
                throw .invalid("\(name) \(error.sentence)", parameter: name)
            }
        }
        if let period = try read("when", words.period) {
            guard from == nil, to == nil else {
                throw .invalid(
                    "when names the whole time: leave it or from and to out.", parameter: "when")
            }
            return period
        }
        let period = Period(
            from: try read("from", words.period)?.from, to: try read("to", words.end))
        if let from = period.from, let to = period.to, to <= from {
            throw .invalid("to is before from.", parameter: "to")
        }
        return period
    }

    private static func zone(_ name: String?) throws(Problem) -> TimeZoneRules {
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
    ) async throws(Problem) -> Actor? {
        guard let text = text.nonEmpty else { return nil }
        if let actor = HistoryWords.actor(text) { return actor }
        let isClient = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.hasEntry(ofClient: text)
        }
        guard isClient || capabilities.all.contains(where: { $0.capability.name == text }) else {
            throw .invalid(
                "by must be you, understudy, client, or the name of an access.", parameter: "by")
        }
        return .namedClient(text)
    }

    /// Undoes the latest decision about each of some operations.
    func undoDecisions(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        let ids = (call.body["operations"]?.array ?? []).compactMap(\.string)
        let outcome = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.undoDecisions(ids, dryRun: Self.isDryRun(call))
        }
        return .json(Answers.UndoneDecisions(outcome, dryRun: Self.isDryRun(call)))
    }

    /// `POST /history/{id}/undo`: undoes one entry.
    func undo(_ call: OperatorCall) async throws(Problem) -> Response {
        let tenant = try await tenant(call)
        guard let entry = Int64(call.parameter("id")) else {
            throw .notFound("There is no such entry in the history.")
        }
        let undoing = try await mappingErrors { () throws(StoreError) in
            try await tenant.store.undo(entry, dryRun: Self.isDryRun(call))
        }
        guard let effect = undoing.effect, case .done(let operation) = undoing.outcome else {
            return try actionResponse(undoing.outcome, noun: "entry in the history")
        }
        return .json(
            Answers.UndoResult(
                effect: effect, sentence: undoing.sentence, dryRun: Self.isDryRun(call),
                operation: operation))
    }

    private static func isDryRun(_ call: OperatorCall) -> Bool {
        call.body["dryRun"]?.bool ?? false
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
