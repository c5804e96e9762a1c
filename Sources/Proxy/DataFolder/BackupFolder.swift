package import TablesProtocol

/// A folder of backups that are named by their time.
package struct BackupFolder: Sendable, Hashable {
    /// The path of the folder.
    package let path: String

    /// The folder at a path.
    package init(path: String) { self.path = path }

    /// Where backups go unless another folder is set.
    package static func standardPath(of data: DataFolder) -> String { "\(data.path)/backups" }

    /// One backup of the folder.
    package struct Kept: Sendable, Hashable {
        /// The path of the backup.
        package let path: String
        /// When it was begun.
        package let at: Instant
    }

    /// The whole backups, the oldest first. Other files and folders are not looked at, and neither is a
    /// link: the folder that it leads to may hold more than a backup.
    package var backups: [Kept] {
        Files.names(in: path).compactMap { name -> Kept? in
            guard let at = Self.time(of: name) else { return nil }
            let kept = Kept(path: "\(path)/\(name)", at: at)
            return Files.isFolder(kept.path) && Backup(path: kept.path).isWhole ? kept : nil
        }.sorted { $0.at < $1.at }
    }

    /// The folders of backups that were begun before a time and are not finished.
    func unfinished(begunBefore time: Instant) -> [String] {
        Files.names(in: path).filter { name in
            guard let at = Self.time(of: String(name.prefix(Self.example.count))) else {
                return false
            }
            return at < time && name.dropFirst(Self.example.count).hasPrefix(Backup.unfinishedMark)
        }.map { "\(path)/\($0)" }.filter(Files.isFolder)
    }

    /// The latest backup that was begun by a time; nil if there is none.
    package func latest(by time: Instant) -> Kept? {
        backups.last { $0.at <= time }
    }

    /// The path of a backup that begins at a time.
    func path(at time: Instant) -> String { "\(path)/\(Self.name(time))" }

    /// The name of a backup: the time without colons, which some file systems do not take.
    static func name(_ time: Instant) -> String { time.text.filter { $0 != ":" } }

    /// The time of a name; nil for another name.
    static func time(of name: String) -> Instant? {
        guard name.utf8.count == example.utf8.count else { return nil }
        let (hour, minute) = (name.index(name.startIndex, offsetBy: 13), name.dropFirst(15))
        let text = "\(name[..<hour]):\(name[hour...].prefix(2)):\(minute)"
        guard let time = Instant(parsing: text), Self.name(time) == name else { return nil }
        return time
    }

    private static let example = "2026-11-25T184500.123Z"

    /// The end of a day or minute that a person names, such as `2026-11-21`, `2026-11-21T18:30` or a whole
    /// time; in UTC. Nil for another text.
    package static func end(of text: String) -> Instant? {
        switch text.utf8.count {
        case "2026-11-21".utf8.count: Instant(parsing: "\(text)T23:59:59.999Z")
        case "2026-11-21T18:30".utf8.count: Instant(parsing: "\(text):59.999Z")
        default: Instant(parsing: text)
        }
    }

    /// The backups to remove so that `count` are left: those that were made first. One in the future was made
    /// before the clock was set back, so it was made before all others.
    /// - Parameter backups: those of the folder, in the order of their times.
    static func excess(_ backups: [Kept], keeping count: Int, now: Instant) -> [Kept] {
        let inFuture = backups.filter { $0.at > now }
        let others = backups.filter { $0.at <= now }
        return Array((inFuture + others).dropLast(count))
    }
}
