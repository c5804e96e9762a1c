import SyncCore
import TablesProtocol

/// A change of settings as it came: what is not named stays.
struct SettingsPatch {
    private let body: JSONValue

    /// Takes the body of the request.
    init(_ body: JSONValue) {
        self.body = body
    }

    /// The settings with the change.
    func applied(to settings: SyncSettings) throws(Problem) -> SyncSettings {
        SyncSettings(
            triggers: try triggers() ?? settings.triggers,
            interval: try number("intervalSeconds", 1...86_400).map { .seconds($0) }
                ?? settings.interval,
            debounce: try number("debounceMs", 0...60_000).map { .milliseconds($0) }
                ?? settings.debounce,
            parallelism: try number("parallelism", 1...SyncLimits.parallelPushes)
                ?? settings.parallelism,
            tables: try tables() ?? settings.tables,
            maxAttempts: try number("maxAttempts", 1...1000) ?? settings.maxAttempts,
            pageRows: try number("pageRows", 1...SyncLimits.pullPageRows) ?? settings.pageRows)
    }

    private func number(_ name: String, _ range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let value = body[name] else { return nil }
        guard let number = value.integer.flatMap({ Int(exactly: $0) }), range.contains(number)
        else {
            throw .invalid(
                "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    private func triggers() throws(Problem) -> Set<Trigger>? {
        guard let value = body["triggers"] else { return nil }
        let words = value.array?.map { $0.string.flatMap(Trigger.init(rawValue:)) }
        guard let words, !words.contains(nil) else {
            let all = Trigger.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("triggers must be a list of some of \(all).")
        }
        // A person who asks for a sync gets one, whatever else is switched off.
        return Set(words.compactMap { $0 }).union([.manual])
    }

    private func tables() throws(Problem) -> [TableName]? {
        guard let value = body["tables"] else { return nil }
        let names = value.array?.map { $0.string.flatMap { TableName($0) } }
        guard let names, !names.contains(nil) else {
            throw .invalid("tables must be a list of names of tables.")
        }
        return names.compactMap { $0 }
    }
}
