import SyncCore
import TablesProtocol

// The data folder and the stores in it.
extension Doctor {
    func folderFindings() -> [Finding] {
        let check = "data folder"
        guard let status = Files.status(folder.path) else {
            return [.ok(check, "\(folder.path) is not there yet; the first start makes it.")]
        }
        if status.owner != ThisProcess.user {
            return [
                .problem(
                    check, "\(folder.path) belongs to another user.",
                    "Run this as that user, or name your own folder with --data.")
            ]
        }
        var findings: [Finding] = []
        for path in [folder.path, folder.tokenFile, folder.tokensFile, "\(folder.path)/sessions"] {
            guard let status = Files.status(path), status.permissions & 0o077 != 0 else { continue }
            findings.append(
                .problem(
                    "permissions", "Other users can read \(path).",
                    "Close it with: chmod go= '\(path)'"))
        }
        if let free = Files.freeBytes(folder.path), free < Limits.freeBytes {
            findings.append(
                .warning(
                    "disk space", "\(free >> 20) MiB are free on the disk of \(folder.path).",
                    "Free some: without space no write is accepted."))
        }
        return findings.isEmpty ? [.ok(check, "\(folder.path) is yours alone.")] : findings
    }

    func storeFindings() -> [Finding] {
        let check = "store"
        guard folder.hasStore else { return [.ok(check, "There is none yet.")] }
        var findings: [Finding] = []
        for identity in [Homes.anonymous] + folder.identities.map(\.key) {
            do {
                let contents = try folder.contents(identity)
                if let first = contents.faults.first {
                    findings.append(damage(identity, first))
                } else {
                    findings.append(
                        .ok(
                            check,
                            "\(identity): sound, \(contents.items) items, "
                                + "\(contents.ledger.queue.open) open operations."))
                }
            } catch {
                findings.append(damage(identity, error.sentence))
            }
        }
        return findings
    }

    private func damage(_ identity: String, _ fault: String) -> Finding {
        .problem(
            "store", "\(identity) is damaged: \(fault)",
            "Stop Understudy, keep a copy of \(folder.path)/stores, then restore a backup with: "
                + "understudy restore FOLDER")
    }
}
