import Proxy
import TablesProtocol

/// Lines for a terminal, from answers of the operator API.
enum TerminalText {
    /// The status.
    /// - Parameters:
    ///   - users: what waits in the stores of users.
    ///   - isManual: whether a write starts no push.
    static func status(
        _ status: JSONValue, users: UserStores? = nil, isManual: Bool = false
    ) -> [String] {
        let backend = status["backend"]
        // A backend that was not asked yet is neither in reach nor out of it.
        let isAsked = backend?["isAsked"]?.bool != false
        let state = isAsked ? text(backend?["state"]) : "not asked yet"
        var lines = [row("Backend", "\(state)  \(text(backend?["url"]))")]
        if isAsked {
            let times = [
                backend?["since"]?.string.map { "since \($0)" },
                backend?["nextTry"]?.string.map { "asked again at \($0)" },
            ].compactMap(\.self)
            lines += [
                row("", text(backend?["reason"])), row("", times.joined(separator: ", ")),
            ]
        }
        if status["mode"]?["mode"]?.string == "offline" {
            let until = status["mode"]?["until"]?.string.map { " until \($0)" } ?? ""
            lines.append(row("Mode", "offline by choice\(until); `understudy online` ends it"))
        } else if isManual {
            lines.append(
                row("Mode", "a write starts no push (sync = manual); `understudy sync` sends"))
        }
        lines.append(row("Queue", queue(status["queue"])))
        if let users = users?.text { lines.append(row("Users", users)) }
        lines.append(row("Ledger", ledger(status["ledger"])))
        for table in status["tables"]?.array ?? [] {
            let complete = table["isComplete"]?.bool == true ? "" : ", not pulled completely yet"
            let part = table["part"]?.string.map { ", of the rows with \($0)" } ?? ""
            lines.append(
                row(
                    "Table",
                    "\(text(table["name"]))  \(text(table["items"])) items, "
                        + "\(text(table["pending"])) pending\(part)\(complete)"))
            for (name, what) in [("pushWait", "changes"), ("pullWait", "pulls")] {
                guard let next = table[name]?["nextTry"]?.string else { continue }
                let since = text(table[name]?["since"])
                lines.append(row("", "its \(what) fail since \(since), tried again at \(next)"))
            }
            if let warning = table["warning"]?.string {
                let since = table["pullsFailSince"]?.string.map { " (since \($0))" } ?? ""
                lines.append(row("", warning + since))
            }
        }
        lines.append(row("Last sync", status["lastSync"]?.string ?? "none since the start"))
        for warning in status["warnings"]?.array ?? [] {
            lines.append(row("Warning", text(warning)))
        }
        return lines.filter { !$0.isEmpty }
    }

    private static func queue(_ queue: JSONValue?) -> String {
        let parts = states.compactMap { name -> String? in
            guard let count = queue?[name]?.integer, count > 0 else { return nil }
            return "\(count) \(name)"
        }
        return parts.isEmpty ? "empty" : parts.joined(separator: ", ")
    }

    private static func ledger(_ ledger: JSONValue?) -> String {
        "\(text(ledger?["accepted"])) accepted = \(text(ledger?["applied"])) applied + "
            + "\(text(ledger?["collapsed"])) collapsed + \(text(ledger?["discarded"])) discarded "
            + "+ \(open(ledger)) open"
            + (ledger?["balances"]?.bool == false ? "  DOES NOT BALANCE" : "")
    }

    private static func open(_ ledger: JSONValue?) -> Int64 {
        states.reduce(0) { $0 + (ledger?[$1]?.integer ?? 0) }
    }

    private static let states = [
        "queued", "waiting", "sending", "unknown", "conflict", "quarantined",
    ]

    /// A run.
    static func run(_ run: JSONValue) -> [String] {
        var lines = ["\(text(run["kind"])): \(runState(text(run["state"])))"]
        if let reason = run["reason"]?.string { lines.append("  \(reason)") }
        if let push = run["push"], push != .null {
            lines.append(
                "  push: \(text(push["sent"])) sent, \(text(push["applied"])) applied, "
                    + "\(text(push["conflicts"])) conflicts, "
                    + "\(text(push["quarantined"])) quarantined, \(text(push["left"])) left")
        }
        for pull in run["pull"]?.array ?? [] {
            let error = pull["error"]?.string.map { ": \($0)" } ?? ""
            lines.append(
                "  pull \(text(pull["table"])): \(text(pull["received"])) received, "
                    + "\(text(pull["applied"])) applied\(error)")
        }
        return lines
    }

    /// When the first of the waiting operations is tried again; nothing if none waits for a time.
    static func waiting(_ page: JSONValue) -> [String] {
        guard let next = page["items"]?.array?.first?["nextAttemptAt"]?.string else { return [] }
        return [
            "  The first that waits is tried again at \(next); at once with: "
                + "understudy queue retry --all --state waiting,unknown"
        ]
    }

    /// The state of a run in words.
    private static func runState(_ state: String) -> String {
        switch state {
        case "completeWithErrors": "complete with errors"
        case "signIn": "a sign-in is needed"
        default: state
        }
    }

    /// A list of operations.
    /// - Parameter held: what keeps queued ones from being sent.
    static func operations(_ page: JSONValue, held: String? = nil) -> [String] {
        let lines = (page["items"]?.array ?? []).map(operation)
        return lines.isEmpty ? ["No operations."] : lines + more(page) + why(held)
    }

    /// The line on what keeps queued operations from being sent.
    static func why(_ held: String?) -> [String] { held.map { ["Held: \($0)"] } ?? [] }

    /// One operation in a line.
    static func operation(_ operation: JSONValue) -> String {
        let reason = operation["reason"]?.string.map { "  \($0)" } ?? ""
        let next = operation["nextAttemptAt"]?.string.map { "  (again at \($0))" } ?? ""
        return "\(text(operation["id"]))  \(text(operation["state"]))  "
            + "\(text(operation["kind"])) \(text(operation["table"]))/\(text(operation["itemId"]))  "
            + "\(text(operation["title"]))\(reason)\(next)"
    }

    /// One operation with its attempts.
    /// - Parameter held: what keeps it from being sent, if it is queued.
    static func detail(_ detail: JSONValue, held: String? = nil) -> [String] {
        var lines = detail["summary"].map { [operation($0)] } ?? []
        if let accepted = detail["summary"]?["createdAt"]?.string {
            lines.append("  accepted \(accepted)")
        }
        lines += why(held).map { "  \($0)" }
        for name in ["payload", "base", "mine", "server"] {
            if let value = detail[name], value != .null {
                lines.append("  \(name): \(value.text)")
            }
        }
        for header in detail["headers"]?.array ?? [] { lines.append("  sent with \(text(header))") }
        for attempt in detail["attempts"]?.array ?? [] {
            lines.append(
                "  attempt \(text(attempt["number"])) at \(text(attempt["startedAt"])): "
                    + "\(text(attempt["method"])) \(text(attempt["target"])): "
                    + "\(text(attempt["outcome"])) \(text(attempt["status"])) "
                    + text(attempt["error"]))
        }
        return lines
    }

    /// A list of conflicts.
    static func conflicts(_ page: JSONValue) -> [String] {
        let items = page["items"]?.array ?? []
        return items.isEmpty ? ["No conflicts."] : items.flatMap(conflict) + more(page)
    }

    /// One conflict with the fields that differ.
    static func conflict(_ conflict: JSONValue) -> [String] {
        var lines = [
            "\(text(conflict["id"]))  \(text(conflict["table"]))/\(text(conflict["itemId"]))  "
                + text(conflict["title"])
        ]
        if conflict["serverDeleted"]?.bool == true { lines.append("  deleted on the backend") }
        if conflict["mineDeleted"]?.bool == true { lines.append("  deleted here") }
        for field in conflict["fields"]?.array ?? [] {
            lines.append(
                "  \(text(field["name"])): base \(field["base"]?.text ?? "null"), "
                    + "mine \(field["mine"]?.text ?? "null"), "
                    + "server \(field["server"]?.text ?? "null")")
        }
        return lines
    }

    /// The history.
    static func history(_ page: JSONValue) -> [String] {
        let lines = (page["items"]?.array ?? []).map { entry -> String in
            let writer = entry["client"] == .null ? entry["actor"] : entry["client"]
            return "\(text(entry["id"]))  \(text(entry["at"]))  \(text(writer))  "
                + text(entry["summary"])
                + (entry["imported"]?.bool == true ? "  (imported)" : "")
        }
        return lines.isEmpty ? ["Nothing happened yet."] : lines + more(page)
    }

    /// The operation that an action has left, or `Done.`
    static func action(_ result: JSONValue) -> [String] {
        guard let left = result["operation"], left != .null else { return ["Done."] }
        return [operation(left)]
    }

    private static func more(_ page: JSONValue) -> [String] {
        page["next"]?.string.map { ["More: --after \($0)"] } ?? []
    }

    private static func row(_ name: String, _ value: String) -> String {
        value.isEmpty ? "" : name + String(repeating: " ", count: max(1, 11 - name.count)) + value
    }

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case nil, .null: ""
        case .string(let text): text
        case .number(let number): number.text
        case .bool(let bool): bool ? "true" : "false"
        case .array, .object: value?.text ?? ""
        }
    }
}

// What is kept: identities, backups, bytes.
extension TerminalText {
    /// The list of identities.
    static func identities(_ list: JSONValue) -> [String] {
        (list["items"]?.array ?? []).map { one in
            let open = one["openOperations"]?.integer.map { "\($0) open operations" }
            let items = one["items"]?.integer.map { "\($0) items" }
            return [
                one["identity"]?.string, one["state"]?.string, open, items,
                one["bytes"]?.integer.map(size),
            ].compactMap(\.self).joined(separator: "  ")
        }
    }

    /// The backups and the plan.
    static func backups(_ list: JSONValue) -> [String] {
        let folder = list["folder"]?.string ?? ""
        let items = (list["items"]?.array ?? []).map { one in
            "\(one["at"]?.string ?? "")  \(one["path"]?.string ?? "")"
        }
        var lines = items.isEmpty ? ["There is no backup in \(folder)."] : items
        if let seconds = list["everySeconds"]?.integer {
            lines.append(
                "Every \(time(seconds)), \(list["keep"]?.integer ?? 0) are kept; the next is due at "
                    + "\(list["nextAt"]?.string ?? "").")
        } else {
            lines.append("None is made by itself; backup-every changes that.")
        }
        if let failure = list["failure"]?.string { lines.append("The last try failed: \(failure)") }
        return lines
    }

    /// What a store takes on disk.
    static func storage(_ storage: JSONValue) -> [String] {
        let parts = (storage["parts"]?.array ?? []).map { part in
            let rows = part["rows"]?.integer.map { ", \($0) rows" } ?? ""
            return "\((part["kind"]?.string ?? "").padded(to: 12))"
                + "\(size(part["bytes"]?.integer ?? 0))\(rows)"
        }
        let kept = storage["retention"]
        func keeping(_ name: String, _ member: String, _ limit: String) -> String {
            let most = kept?[limit]?.integer.map { ", at most \(size($0))" } ?? ""
            return "\(name) \(time(kept?[member]?.integer ?? 0))\(most)"
        }
        return ["On disk: \(size(storage["bytes"]?.integer ?? 0))"] + parts.map { "  \($0)" }
            + [
                "Kept: "
                    + [
                        keeping("history", "historySeconds", "historyBytes"),
                        keeping("attempts", "attemptSeconds", "attemptBytes"),
                        keeping("deleted rows", "tombstoneSeconds", "")
                            + " (\(storage["tombstones"]?.integer ?? 0) now)",
                    ].joined(separator: "; ")
            ]
    }

    /// Bytes in a unit that is easy to read.
    static func size(_ bytes: Int64) -> String {
        if bytes < 1 << 10 { return "\(bytes) B" }
        if bytes < 1 << 20 { return "\(bytes >> 10) KiB" }
        return "\(bytes >> 20).\((bytes & 0xF_FFFF) * 10 >> 20) MiB"
    }

    /// Seconds as whole days or hours.
    private static func time(_ seconds: Int64) -> String {
        let isDays = seconds % 86_400 == 0
        let number = seconds / (isDays ? 86_400 : 3600)
        return "\(number) \(isDays ? "day" : "hour")\(number == 1 ? "" : "s")"
    }
}
