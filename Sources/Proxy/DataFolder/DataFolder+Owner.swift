// The folder and all in it are for this user alone.
extension DataFolder {
    /// Refuses what others may read, or what is another user's: a token or a row may have been read
    /// or planted already, so that a person has to look.
    package func refuseForeign() throws(StartProblem) {
        try refuseForeign(path)
    }

    private func refuseForeign(_ entry: String) throws(StartProblem) {
        guard let status = Files.status(entry) else { return }
        if status.owner != ThisProcess.user {
            throw StartProblem(
                "\(entry) belongs to another user. Choose a folder with --data, or take it over: "
                    + "sudo chown -R $(id -u) '\(path)'")
        }
        if status.permissions & 0o077 != 0 {
            throw StartProblem(
                "\(entry) is open to other users. Close everything in it with: chmod -R go= "
                    + "'\(path)'")
        }
        guard Files.isFolder(entry) else { return }
        for name in Files.names(in: entry) { try refuseForeign("\(entry)/\(name)") }
    }
}
