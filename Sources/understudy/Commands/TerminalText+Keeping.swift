import TablesProtocol

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
