package import Platform
import TablesProtocol

/// What a restore that was cut has left in a data folder. Its copies grow in `stores.incoming`, and are whole when
/// that folder is called `stores.restored`.
package enum CutRestore: Sendable, Hashable {
    /// The copies are whole: the restore is finished.
    case whole
    /// The copies are not whole, and the stores are as they were: the copies are removed.
    case unfinished
    /// The stores are missing, and nothing says what was meant: a person decides.
    case undecided
}

extension DataFolder {
    var storesFolder: String { "\(path)/stores" }
    var incomingStores: String { "\(path)/stores.incoming" }
    var restoredStores: String { "\(path)/stores.restored" }

    /// The latest stores that a restore has kept aside.
    private var latestKept: String? {
        Files.names(in: path).filter { $0.hasPrefix("stores.before-") }.max().map {
            "\(path)/\($0)"
        }
    }

    package var cutRestore: CutRestore? {
        if Files.exists(restoredStores) { return .whole }
        let isIncoming = Files.exists(incomingStores)
        if Files.exists(storesFolder) { return isIncoming ? .unfinished : nil }
        return isIncoming || latestKept != nil ? .undecided : nil
    }

    /// Finishes or undoes a restore that was cut, and tells that. The folder's lock is held.
    func mendCutRestore(_ tell: (String) -> Void) throws {
        switch cutRestore {
        case nil: break
        case .whole:
            try finishRestore()
            let kept = latestKept.map { " What was there before is in \($0)." } ?? ""
            tell("A restore to \(path) had been cut and is finished now.\(kept)")
        case .unfinished:
            try Files.removeFolder(incomingStores)
            tell("A restore to \(path) was cut before its copies were whole: nothing is restored.")
        case .undecided: try refuseCutRestore()
        }
    }

    /// Puts whole copies in the place of the stores. Each step may have been done before.
    /// - Returns: the folder of the earlier stores; nil if there were none.
    @discardableResult
    func finishRestore() throws(FileFailure) -> String? {
        if Files.exists("\(restoredStores)/policies") {
            try Files.rename("\(restoredStores)/policies", to: policiesFile)
        }
        var aside: String?
        if Files.exists(storesFolder) {
            let kept = "\(path)/stores.before-\(ThisProcess.now.text.filter { $0.isNumber })"
            try Files.rename(storesFolder, to: kept)
            aside = kept
        }
        try Files.rename(restoredStores, to: storesFolder)
        return aside
    }

    /// Refuses a folder with a cut restore, for what reads it without its lock.
    package func refuseCutRestore() throws(StartProblem) {
        switch cutRestore {
        case nil, .unfinished: return
        case .whole:
            throw StartProblem(
                "A restore to \(path) was cut. The next start finishes it, and so does: understudy status",
                .error)
        case .undecided:
            let back = latestKept.map {
                "take back the earlier stores: mv \($0) \(storesFolder); or "
            }
            throw StartProblem(
                "\(storesFolder) is missing, and a restore that was cut has left others beside it. To go on: "
                    + "restore a backup again; or \(back ?? "")begin without rows and changes: "
                    + "mkdir -m 700 \(storesFolder)", .error)
        }
    }
}
