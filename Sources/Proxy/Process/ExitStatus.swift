/// What a command's exit code says. Thrown by a command that has said everything else already.
package enum ExitStatus: Int32, Error, Sendable, Hashable, CaseIterable {
    /// Done.
    case ok = 0
    /// It went wrong.
    case error = 1
    /// Wrong use, or the start is not possible like this (port, folder, lock).
    case usage = 2
    /// The backend cannot be reached.
    case offline = 3
    /// Conflicts wait for a person.
    case conflicts = 4
    /// Quarantined operations wait for a person.
    case quarantined = 5
    /// No Understudy runs on this data folder.
    case notRunning = 6
}
