import SyncCore
import TablesProtocol

/// The file of what was told, so that no start tells it again. It is among the stores: a restore, which keeps
/// them aside, keeps it aside with them, since the numbers of operations in it are theirs.
struct NotificationFile: Sendable {
    /// The file, 0600.
    let path: String

    /// What was told; nothing if the file cannot be read or parsed. Then it is told once more.
    func load() -> NotificationMemory {
        guard let bytes = try? Files.read(path), let json = try? JSONValue(parsing: bytes) else {
            return NotificationMemory()
        }
        return NotificationMemory(json: json)
    }

    func save(_ memory: NotificationMemory) throws(FileFailure) {
        try Files.write(path, Array(memory.json.text.utf8))
    }
}

extension NotificationMemory {
    /// Reads the JSON of the file. What is not as this program writes it is left out.
    init(json: JSONValue) {
        for entry in json["operations"]?.array ?? [] {
            guard let identity = entry["identity"]?.string, let at = Self.time(entry["at"]) else {
                continue
            }
            let runs = (entry["seqs"]?.array ?? []).compactMap { run -> ClosedRange<Int64>? in
                let ends = (run.array ?? []).compactMap(\.integer)
                guard ends.count == 2, ends[0] <= ends[1],
                    ends[1] - ends[0] < Int64(Limits.lookedAtDecisions)
                else { return nil }
                return ends[0]...ends[1]
            }
            told[identity] = ToldOperations(seqs: Set(runs.joined()), at: at)
        }
        for entry in json["conditions"]?.array ?? [] {
            guard let word = entry["condition"]?.string, let since = Self.time(entry["since"]),
                let condition = Condition(word: word, identity: entry["identity"]?.string)
            else { continue }
            standing[condition] = Standing(since: since, toldAt: Self.time(entry["toldAt"]))
        }
    }

    /// The JSON of the file: numbers of operations as runs of the first and the last.
    var json: JSONValue {
        let operations = told.sorted { $0.key < $1.key }.map { identity, told in
            JSONValue.members(
                ("identity", .string(identity)), ("at", .time(told.at)),
                (
                    "seqs",
                    .array(
                        Self.runs(told.seqs).map {
                            .array([.number($0.lowerBound), .number($0.upperBound)])
                        })
                ))
        }
        let conditions = standing.filter { $0.value.toldAt != nil }.sorted {
            ($0.key.word, $0.key.identity ?? "") < ($1.key.word, $1.key.identity ?? "")
        }.map { condition, standing in
            JSONValue.members(
                ("condition", .string(condition.word)), ("identity", .text(condition.identity)),
                ("since", .time(standing.since)), ("toldAt", .time(standing.toldAt)))
        }
        return .members(("operations", .array(operations)), ("conditions", .array(conditions)))
    }

    private static func time(_ value: JSONValue?) -> Instant? {
        value?.string.flatMap { Instant(iso: $0) }
    }

    /// The numbers as runs without a gap.
    private static func runs(_ numbers: Set<Int64>) -> [ClosedRange<Int64>] {
        var runs: [ClosedRange<Int64>] = []
        for number in numbers.sorted() {
            if let last = runs.last, last.upperBound == number - 1 {
                runs[runs.count - 1] = last.lowerBound...number
            } else {
                runs.append(number...number)
            }
        }
        return runs
    }
}
