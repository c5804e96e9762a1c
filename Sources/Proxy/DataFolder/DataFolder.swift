package import Platform
package import SyncCore
import TablesProtocol

// The contents of the proxy's data folder: stores, operator token, address.
extension DataFolder {
    /// Takes the folder's lock, and finishes or undoes a restore that was cut.
    /// - Parameters:
    ///   - isRestoring: whether a restore follows. Then stores that are missing after a cut one are no problem.
    ///   - tell: gets the sentence on a restore that was cut.
    package func open(
        isRestoring: Bool = false, tell: (String) -> Void = { _ in }
    ) throws(StartProblem) -> FolderLock {
        let lock = try lock()
        do {
            if !isRestoring || cutRestore != .undecided { try mendCutRestore(tell) }
        } catch {
            lock.release()
            throw (error as? StartProblem)
                ?? StartProblem("\(error) Choose another folder with --data.")
        }
        if !lock.hasRoom(bytes: Platform.Limits.openingBytes) {
            StoreOnDisk.openOnFullDisk()
            tell(
                "The disk of \(path) is full: what is here is read, and writes are refused until "
                    + "some space is free.")
        }
        return lock
    }

    /// Removes the stores, also those that were put aside, what is remembered of users, and the demo's
    /// backend. Lock and operator token stay.
    package func empty() throws(StartProblem) {
        do {
            for folder in [storesFolder, replacedStores] where Files.exists(folder) {
                try Files.removeFolder(folder)
            }
        } catch {
            throw StartProblem("\(error)")
        }
        Files.remove(tokensFile)
        Files.remove(ownersFile)
        Files.remove(cookiesFile)
        Files.remove(policiesFile)
        forgetSignIns()
        for ending in ["", "-wal", "-shm"] { Files.remove("\(path)/backend.sqlite\(ending)") }
    }

    /// The file of an identity's store; its folder is made if it is not there. The key of an identity is a
    /// valid file name.
    package func storeFile(_ identity: String) throws(StartProblem) -> String {
        do {
            try Files.makeFolder("\(path)/stores/\(identity)")
        } catch {
            throw StartProblem("\(error)")
        }
        let file = storePath(identity)
        try refuseIrregular(file)
        return file
    }

    /// The path of an identity's store file, whether it is there or not.
    func storePath(_ identity: String) -> String { "\(path)/stores/\(identity)/store.sqlite" }

    /// The file of the index of the stores. It is in their folder, so that a restore, which keeps that folder
    /// aside under another name, keeps the index aside with it.
    func indexFile() throws(StartProblem) -> String {
        do {
            try Files.makeFolder("\(path)/stores")
        } catch {
            throw StartProblem("\(error)")
        }
        return "\(path)/stores/index.sqlite"
    }

    package var hasStore: Bool {
        Files.exists("\(path)/stores/\(Identity.anonymousKey)/store.sqlite")
    }

    /// The contents of an identity's store, read without an open ``Store``.
    package func contents(_ identity: String) throws(StartProblem) -> StoreContents {
        do {
            return try StoreOnDisk(at: try storeFile(identity)).verify()
        } catch {
            throw (error as? StartProblem) ?? StartProblem("\(error)", .error)
        }
    }

    /// The contents of an identity's store, or why it cannot be read. Makes nothing.
    package func inspect(_ identity: String) -> Result<StoreContents, StoreError> {
        Result { () throws(StoreError) in
            let file = storePath(identity)
            do throws(StartProblem) { try refuseIrregular(file) } catch {
                throw .failed(error.description)
            }
            return try StoreOnDisk(at: file).verify()
        }
    }

    /// The identities that have a store, without `anonymous`.
    package var identities: [Identity] {
        Files.names(in: "\(path)/stores").sorted().filter { name in
            name != Identity.anonymousKey && Files.exists("\(path)/stores/\(name)/store.sqlite")
        }.map { Identity(key: $0) }
    }

    /// The file of ``KnownTokens``.
    var tokensFile: String { "\(path)/tokens" }

    /// The file of ``BackendCookies``.
    var cookiesFile: String { "\(path)/cookies" }

    /// Removes the users' tokens that earlier versions kept, and the key with which a copy can be read.
    func forgetSignIns() {
        for name in ["sign-ins", "sign-ins.key"] { Files.remove("\(path)/\(name)") }
    }

    /// The operator token; made and written if there is none.
    /// - Parameter secret: makes the token.
    package func operatorToken(secret: () -> String) throws(StartProblem) -> String {
        do {
            if let token = try token() { return token }
            let token = secret()
            try Files.write(tokenFile, Array("\(token)\n".utf8))
            return token
        } catch {
            throw StartProblem("\(error)")
        }
    }

    /// The operator token of the folder; nil if there is none.
    package func token() throws(FileFailure) -> String? {
        guard let bytes = try Files.read(tokenFile) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        let token = text[...].trimming { $0 == "\n" || $0 == " " }
        return token.isEmpty ? nil : String(token)
    }

    package var tokenFile: String { "\(path)/operator.token" }

    /// The address that the last start wrote; nil if there is none.
    package func address() throws(FileFailure) -> String? {
        guard let bytes = try Files.read("\(path)/address") else { return nil }
        return String(String(decoding: bytes, as: UTF8.self)[...].trimming { $0 == "\n" })
    }

    /// Writes the address of this process for the commands.
    package func writeAddress(_ address: String) throws(FileFailure) {
        try Files.write("\(path)/address", Array("\(address)\n".utf8))
    }

    package func removeAddress() { Files.remove("\(path)/address") }
}
