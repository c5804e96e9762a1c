import Proxy
import SyncCore
import TablesProtocol

/// Lines for a terminal, from answers of the operator API.
enum TerminalText {
    /// A page of a list, each element in its lines.
    /// - Parameter nothing: the line for an empty list.
    static func list<Element: Answers.Part>(
        _ page: Page<Element>, nothing: String, _ lines: (Element) -> [String]
    ) -> [String] {
        if page.items.isEmpty { return [nothing] }
        return page.items.flatMap(lines) + (page.next.map { ["More: --after \($0)"] } ?? [])
    }

    /// The status.
    /// - Parameters:
    ///   - users: what waits in the stores of users.
    ///   - isManual: whether a write starts no push.
    static func status(
        _ status: Answers.Status, users: UserStores? = nil, isManual: Bool = false
    ) -> [String] {
        let backend = status.backend
        // A backend that was not asked yet is neither in reach nor out of it.
        let state = backend.isAsked ? backend.state.rawValue : "not asked yet"
        var lines = [row("Backend", "\(state)  \(backend.url)")]
        if backend.isAsked {
            let times = [
                "since \(backend.since.text)",
                backend.nextTry.map { "asked again at \($0.text)" },
            ].compactMap(\.self)
            lines += [row("", backend.reason), row("", times.joined(separator: ", "))]
        }
        if status.mode.mode == .offline {
            let until = status.mode.until.map { " until \($0.text)" } ?? ""
            lines.append(row("Mode", "offline by choice\(until); `understudy online` ends it"))
        } else if isManual {
            lines.append(
                row("Mode", "a write starts no push (sync = manual); `understudy sync` sends"))
        }
        lines.append(row("Queue", queue(status.queue)))
        if let users = users?.text { lines.append(row("Users", users)) }
        lines.append(row("Ledger", ledger(status.ledger)))
        for table in status.tables {
            let complete = table.isComplete ? "" : ", not pulled completely yet"
            let part = table.part.map { ", of the rows with \($0)" } ?? ""
            lines.append(
                row(
                    "Table",
                    "\(table.name)  \(table.items) items, \(table.pending) unsent\(part)\(complete)"
                ))
            for (wait, what) in [(table.pushWait, "changes"), (table.pullWait, "pulls")] {
                guard let wait else { continue }
                lines.append(
                    row(
                        "",
                        "its \(what) fail since \(wait.since.text), tried again at "
                            + wait.nextTry.text))
            }
            if let drift = table.drift { lines.append(row("", drift)) }
            if let warning = table.warning {
                let since = table.pullsFailSince.map { " (since \($0.text))" } ?? ""
                lines.append(row("", warning + since))
            }
        }
        lines.append(row("Last sync", status.lastSync?.text ?? "none since the start"))
        lines += status.warnings.map { row("Warning", $0) }
        return lines.filter { !$0.isEmpty }
    }

    private static func queue(_ queue: QueueCounts) -> String {
        let counts = [
            (queue.queued, OperationState.queued), (queue.waiting, .waiting),
            (queue.sending, .sending), (queue.unknown, .unknown), (queue.conflict, .conflict),
            (queue.quarantined, .quarantined),
        ]
        let parts = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1.word)" }
        return parts.isEmpty ? "empty" : parts.joined(separator: ", ")
    }

    private static func ledger(_ ledger: Answers.Ledger) -> String {
        let open =
            ledger.queued + ledger.waiting + ledger.sending + ledger.unknown + ledger.conflict
            + ledger.quarantined
        return "\(ledger.accepted) accepted = \(ledger.applied) on the server + "
            + "\(ledger.collapsed) merged into another + \(ledger.discarded) discarded + \(open) open"
            + (ledger.balances ? "" : "  DOES NOT BALANCE")
    }

    static func run(_ run: Run) -> [String] {
        var lines = ["\(run.kind.rawValue): \(words(run.state))"]
        if let reason = run.reason { lines.append("  \(reason)") }
        if let push = run.push {
            lines.append(
                "  push: \(push.sent) sent, \(push.applied) on the server, "
                    + "\(push.conflicts) \(push.conflicts == 1 ? "conflict" : "conflicts"), "
                    + "\(push.quarantined) refused, \(push.left) left over")
        }
        for pull in run.pull {
            let error = pull.error.map { ": \($0)" } ?? ""
            lines.append(
                "  pull \(pull.table): \(pull.received) received, \(pull.applied) changed here\(error)"
            )
        }
        return lines
    }

    private static func words(_ state: RunState) -> String {
        switch state {
        case .completeWithErrors: "complete with errors"
        case .signIn: "a sign-in is needed"
        case .running, .complete, .offline, .cancelled, .failed: state.rawValue
        }
    }

    /// When the first of the waiting operations is tried again; nothing if none waits for a time.
    static func waiting(_ first: OperationSummary?) -> [String] {
        guard let next = first?.nextAttemptAt else { return [] }
        return [
            "  The first that waits is tried again at \(next.text); at once with: "
                + "understudy queue retry --all --state waiting,unknown"
        ]
    }

    /// Members of an answer, one in a line.
    static func members(_ answer: some Encodable) -> [String] {
        guard case .object(let members) = JSONValue(answer: answer) else { return [] }
        return members.map { "\($0.name) = \($0.value.text)" }
    }

    private static func row(_ name: String, _ value: String) -> String {
        value.isEmpty ? "" : name + String(repeating: " ", count: max(1, 11 - name.count)) + value
    }
}

// The queue, conflicts, history.
extension TerminalText {
    /// A list of operations.
    /// - Parameter held: what keeps queued ones from being sent.
    static func operations(
        _ page: Page<OperationSummary>, held: String? = nil
    ) -> [String] {
        list(page, nothing: "No operations.") { [operation($0)] }
            + (page.items.isEmpty ? [] : why(held))
    }

    /// The line on what keeps queued operations from being sent.
    private static func why(_ held: String?) -> [String] { held.map { ["Held: \($0)"] } ?? [] }

    static func operation(_ operation: OperationSummary) -> String {
        let reason = operation.reason.map { "  \($0)" } ?? ""
        let next = operation.nextAttemptAt.map { "  (again at \($0.text))" } ?? ""
        return "\(operation.id)  \(operation.state.word)  "
            + "\(operation.kind.rawValue) \(operation.table)/\(operation.itemID)  "
            + "\(operation.title ?? "")\(reason)\(next)"
    }

    /// One operation with its attempts.
    /// - Parameter held: what keeps it from being sent, if it is queued.
    static func detail(_ detail: OperationDetail, held: String? = nil) -> [String] {
        var lines = [
            operation(detail.summary), "  accepted \(detail.summary.createdAt.text)",
        ]
        lines += why(held).map { "  \($0)" }
        let rows = [
            ("payload", detail.payload), ("base", detail.base), ("mine", detail.mine),
            ("server", detail.server),
        ]
        for (name, row) in rows {
            if let row { lines.append("  \(name): \(row.text)") }
        }
        lines += detail.headers.map { "  sent with \($0)" }
        lines += detail.attempts.map { attempt in
            "  attempt \(attempt.number) at \(attempt.startedAt.text): "
                + "\(attempt.method) \(attempt.target): \(attempt.outcome) "
                + "\(attempt.status.map { String($0) } ?? "") \(attempt.error ?? "")"
        }
        return lines
    }

    /// Operations by state, status and cause.
    static func groups(_ list: QueueGroups.Groups) -> [String] {
        if list.items.isEmpty { return ["No operations."] }
        return list.items.map { group in
            let since = group.since.map { "since \($0.text)" } ?? "not tried yet"
            let status = group.status.map { "\($0)  " } ?? ""
            return "\(group.count) \(group.state.word)  \(status)\(since)  "
                + (group.reason ?? "")
        } + why(list.held)
    }

    /// The operation that an action has left, or `Done.`
    static func action(_ result: Answers.ActionResult) -> [String] {
        [result.operation.map { operation($0) } ?? "Done."]
    }

    /// What the undo of an entry did, or would do.
    static func undone(_ result: Answers.UndoResult) -> [String] {
        ["\(result.dryRun ? "An undo would do this" : "Undone"): \(result.sentence)"]
            + (result.operation.map { [operation($0)] } ?? [])
    }

    /// What became, or would become, of undoing each decision.
    static func undone(_ result: Answers.UndoneDecisions) -> [String] {
        let decisions = result.changed == 1 ? "1 decision" : "\(result.changed) decisions"
        let left = result.refused > 0 ? ", \(result.refused) cannot be undone" : ""
        return ["\(decisions) \(result.dryRun ? "would be undone" : "undone")\(left)."]
            + result.items.map { "  \($0.operation)  \($0.sentence)" }
    }

    /// The outcome of a bulk action.
    /// - Parameter why: why an operation that matches may be left.
    static func bulk(
        _ result: BulkResult, _ done: String, left why: String = "they are on their way"
    ) -> [String] {
        let operations = { (count: Int) in count == 1 ? "1 operation" : "\(count) operations" }
        if result.dryRun {
            return ["\(operations(result.matched)) \(result.matched == 1 ? "matches" : "match")."]
        }
        return [
            "\(operations(result.changed)) \(done)"
                + (result.refused > 0 ? ", \(result.refused) left: \(why)." : ".")
        ]
    }

    /// One conflict with the fields that differ.
    static func conflict(_ conflict: ConflictDetail) -> [String] {
        var lines = [
            "\(conflict.id)  \(conflict.table)/\(conflict.itemID)  \(conflict.title ?? "")"
        ]
        if conflict.serverDeleted { lines.append("  deleted on the backend") }
        if conflict.mineDeleted { lines.append("  deleted here") }
        lines += conflict.fields.map { field in
            let values = [field.base, field.mine, field.server].map { $0?.text ?? "null" }
            return "  \(field.name): base \(values[0]), mine \(values[1]), server \(values[2])"
        }
        return lines
    }

    static func imported(_ result: Answers.ImportResult) -> [String] {
        [
            "\(result.written) changes made, \(result.present) there already, "
                + "\(result.missing) of items that are gone, \(result.refused) refused."
        ] + result.problems.map { "  change \($0.index + 1): \($0.detail)" }
    }
}

// What is kept: tables, identities, backups, bytes; and what the doctor finds.
extension TerminalText {
    /// A table with its counts and policies, and its warning.
    static func table(_ table: Answers.TableStatus) -> [String] {
        [
            "\(table.name)  \(table.items) items, \(table.pending) unsent; read "
                + "\(table.readPolicy.rawValue), write \(table.writePolicy.rawValue), conflicts "
                + table.conflictPolicy.rawValue + (table.isPublic ? ", public" : "")
        ] + [table.drift, table.warning].compactMap(\.self).map { "  " + $0 }
    }

    static func identity(_ one: Answers.KnownIdentity) -> String {
        [
            one.identity, one.state.rawValue, one.openOperations.map { "\($0) open operations" },
            one.items.map { "\($0) items" }, one.bytes.map(size),
        ].compactMap(\.self).joined(separator: "  ")
    }

    static func backup(_ path: String, _ stores: [Answers.BackedUpStore]) -> [String] {
        [path]
            + stores.map { store in
                "  \(store.identity): \(store.items) items, \(store.openOperations) open "
                    + "operations, \(store.bytes) bytes, checked"
            }
    }

    static func backups(_ list: Answers.BackupPage) -> [String] {
        var lines = list.items.map { "\($0.at.text)  \($0.path)" }
        if lines.isEmpty { lines = ["There is no backup in \(list.folder)."] }
        if let seconds = list.everySeconds {
            lines.append(
                "Every \(time(seconds)), \(list.keep) are kept; the next is due at "
                    + "\(list.nextAt?.text ?? "").")
        } else {
            lines.append("None is made by itself; backup-every changes that.")
        }
        if let failure = list.failure { lines.append("The last try failed: \(failure)") }
        return lines
    }

    /// What a store takes on disk.
    static func storage(_ storage: Answers.StoredBytes) -> [String] {
        func keeping(_ name: String, _ seconds: Int64, _ most: Int64?) -> String {
            "\(name) \(time(seconds))" + (most.map { ", at most \(size($0))" } ?? "")
        }
        let kept = storage.retention
        return ["On disk: \(size(storage.bytes))"]
            + storage.parts.map { part in
                let rows = part.rows.map { ", \($0) rows" } ?? ""
                return "  \(part.kind.rawValue.padded(to: 12))\(size(part.bytes))\(rows)"
            } + [
                "Kept: "
                    + [
                        keeping("history", kept.historySeconds, kept.historyBytes),
                        keeping("attempts", kept.attemptSeconds, kept.attemptBytes),
                        keeping("deleted rows", kept.tombstoneSeconds, nil)
                            + " (\(storage.tombstones) now)",
                    ].joined(separator: "; ")
            ]
    }

    static func findings(_ findings: [Finding]) -> [String] {
        findings.flatMap { finding in
            ["\(finding.state.rawValue.padded(to: 9))\(finding.check): \(finding.finding)"]
                + (finding.advice.map { ["         \($0)"] } ?? [])
        }
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

extension String {
    /// The text with blanks at its end, `width` characters wide.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }
}
