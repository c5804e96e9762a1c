import Proxy
import SyncCore
import TablesProtocol

// What waits, what holds it, and whose data it is.
extension Doctor {
    /// The findings on operations that need more than the next push.
    func queueFindings(_ stores: [StoreInspection]) -> [Finding] {
        let heldUsers = Set((running?.users ?? []).map(\.identity))
        var findings = stores.compactMap { store -> Finding? in
            guard let queue = store.contents?.ledger.queue else { return nil }
            var parts: [String] = []
            // The operations of users have findings of their own below.
            if queue.waiting > 0, !heldUsers.contains(store.identity) {
                parts.append("\(queue.waiting) waiting")
            }
            if queue.conflict > 0 { parts.append("\(queue.conflict) in conflict") }
            if queue.quarantined > 0 { parts.append("\(queue.quarantined) quarantined") }
            guard !parts.isEmpty else { return nil }
            let identity =
                store.identity == Identity.anonymousKey ? "" : " --identity \(store.identity)"
            return .warning(
                "queue",
                "\(store.identity) has operations that wait: \(parts.joined(separator: ", ")).",
                "See why with: understudy queue groups\(identity)")
        }
        guard let running else { return findings }
        if let held = running.held {
            let identity = running.identity.map { " --identity \($0)" } ?? ""
            findings.append(
                .warning(
                    "sync", "Queued operations are held. \(held)",
                    "See them with: understudy queue\(identity)"))
        }
        return findings + usersFindings(running) + backupFindings(running)
    }

    /// The findings on operations of users that are not being sent. Those of closed stores are one finding.
    private func usersFindings(_ running: RunningState) -> [Finding] {
        var findings = running.users.compactMap { user in
            user.held.map { held in
                Finding.warning(
                    "sync", "Operations of \(user.identity) are held: \(user.operations). \(held)",
                    "See them with: understudy queue --identity \(user.identity)")
            }
        }
        let closed = running.users.filter { $0.held == nil }
        if let first = closed.first {
            let names = closed.prefix(Limits.shownRows).map { "\($0.identity) (\($0.operations))" }
            let more = closed.count > names.count ? " and \(closed.count - names.count) more" : ""
            findings.append(
                .warning(
                    "sync",
                    "Operations of users wait in closed stores: "
                        + "\(names.joined(separator: ", "))\(more).",
                    "The next sync sends them; those of a user whose token is not here, when the user's "
                        + "client asks again. See them with: understudy queue --identity "
                        + "\(first.identity)"))
        }
        return findings
    }

    /// The finding on automatic backups that fail.
    private func backupFindings(_ running: RunningState) -> [Finding] {
        guard let failure = running.backupFailure else { return [] }
        return [
            .warning(
                "backup", "The last try to make a backup failed: \(failure)",
                "Correct that, then make one with: understudy backup")
        ]
    }

    /// The finding on data that belongs to another backend than the examined one; none if all belongs to it,
    /// or to one that never answered.
    func bindingFindings(_ stores: [StoreInspection]) -> [Finding] {
        guard let address = backend(stores)?.description else { return [] }
        let others = stores.filter { store in
            guard let contents = store.contents, contents.isBackendProven else { return false }
            return contents.backend != address
        }
        guard let other = others.first?.contents?.backend else { return [] }
        let names = others.map(\.identity).joined(separator: ", ")
        return [
            .problem(
                "rebind",
                "The data of \(names) belongs to \(other). Nothing of it is sent to \(address).",
                "If the backend moved, start once with: understudy serve --rebind. Otherwise correct "
                    + "the address.")
        ]
    }
}
