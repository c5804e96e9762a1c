package import Platform
import SyncCore
import TablesProtocol

/// Which users of the present backend have the stores that began under another one
/// (docs/decisions/identities.md).
///
/// Another backend is another issuer of tokens, so there a person gets another identity. A store goes to such
/// an identity by the operator's word alone, since another issuer may give the same id to another person.
/// The store keeps its name, and one small file, which is replaced as a whole, says who has it.
final class StoreOwners: Sendable {
    struct Entry: Sendable, Hashable {
        let store: String
        /// The backend that the operator meant.
        let backend: String
        /// The id of the user whom the operator has named; nil if none was named.
        var user: String?
        /// The identity that has the store beside its own; nil until the named user has signed in.
        var identity: String?
        /// Whether no user of the store has signed in since it was bound to its backend.
        var isWaiting = true

        /// Whether two entries name the same user.
        func hasUser(of other: Entry) -> Bool {
            if let identity = other.identity, identity == self.identity { return true }
            return isNamed(other.user, at: other.backend)
        }

        /// Whether the operator has named this user of a backend. Ids are compared by their bytes.
        func isNamed(_ user: String?, at backend: String) -> Bool {
            guard let user, let own = self.user else { return false }
            return own.utf8.elementsEqual(user.utf8) && self.backend == backend
        }
    }

    private let kept: SharedFile<[Entry]>
    private let backend: String

    /// Reads the file.
    /// - Throws: ``StartProblem`` if it cannot be read: it may not be replaced then.
    init(file: String, backend: BackendAddress) throws(StartProblem) {
        self.backend = backend.description
        kept = SharedFile(try StoreOwners.entries(file)) { entries in
            do throws(FileFailure) {
                try Files.write(file, Array(StoreOwners.text(entries).utf8))
                return nil
            } catch {
                return error
            }
        }
    }

    /// The stores that wait for a user, as a file says.
    /// - Throws: ``StartProblem`` if it cannot be read.
    static func waiting(file: String) throws(StartProblem) -> Set<String> {
        Set(try entries(file).filter(\.isWaiting).map(\.store))
    }

    /// The stores that wait for a user.
    var waiting: Set<String> { kept.read { Set($0.filter(\.isWaiting).map(\.store)) } }

    /// Whether an identity has the store of another one.
    func has(_ identity: String) -> Bool {
        kept.read { $0.contains { $0.identity == identity } }
    }

    /// The identity whose store a user gets, after the backend has accepted the user's token. It is on disk
    /// after ``save()``.
    /// - Parameters:
    ///   - own: the identity that the user's token names.
    ///   - user: the user's id at the backend.
    ///   - hasStore: whether that identity has a store of its own. Then it gets no other store, since two
    ///     stores are never merged. But if the operator has named the user's id, the id is noted as this
    ///     user's, so that no other user gets the named store by it.
    func identity(of own: Identity, user: String?, hasStore: Bool) -> Identity {
        var found = own
        kept.change { entries in
            let claimed = hasStore ? nil : entries.firstIndex { $0.identity == own.key }
            let same = entries.firstIndex { $0.store == own.key }
            let named = entries.firstIndex {
                $0.identity == nil && $0.isNamed(user, at: backend)
            }
            guard let place = claimed ?? same ?? named else { return false }
            let before = entries[place]
            if before.store != own.key { entries[place].identity = own.key }
            if place == claimed || place == same || !hasStore {
                found = Identity(key: before.store)
            }
            return entries[place] != before
        }
        return found
    }

    /// Notes that a user who has a store has signed in. It is on disk after ``save()``.
    /// - Parameter store: the key of the store.
    func signedIn(_ store: String) {
        kept.change { entries in
            guard let place = entries.firstIndex(where: { $0.store == store && $0.isWaiting })
            else {
                return false
            }
            entries[place].isWaiting = false
            return true
        }
    }

    /// Takes the operator's word; the same word again changes nothing. It is on disk after ``save()``.
    /// - Parameter isIdentity: whether the user is named by the identity that they have here.
    /// - Returns: whether the word is new. Then another user may have had the store until now.
    /// - Throws: ``StartProblem`` if the user has another such store, or if the named identity's store was
    ///   given to a user by an earlier word.
    func take(_ word: StoreTakeover, isIdentity: Bool) throws(StartProblem) -> Bool {
        let entry = Entry(
            store: word.store, backend: backend, user: isIdentity ? nil : word.user,
            identity: isIdentity ? word.user : nil)
        var other: String?
        var isTaken = false
        var isNew = false
        kept.change { entries in
            other = entries.first { $0.store != entry.store && $0.hasUser(of: entry) }?.store
            isTaken = entries.contains {
                $0.store == word.user && ($0.user != nil || $0.identity != nil)
            }
            if other != nil || isTaken { return false }
            if let place = entries.firstIndex(where: { $0.store == entry.store }) {
                if entries[place].hasUser(of: entry) { return false }
                entries[place] = entry
            } else {
                entries.append(entry)
            }
            isNew = true
            return true
        }
        if isTaken {
            throw StartProblem(
                "--identity \(word.store)=\(word.user) names a store that an earlier --identity gave to its "
                    + "user, so it stays. To bring the changes of \(word.store) there: understudy export "
                    + "--identity \(word.store) --only queue, then understudy import --identity "
                    + "\(word.user).")
        }
        if let other {
            throw StartProblem(
                "\(word.user) has the store \(other) already, and cannot have \(word.store) too. To bring "
                    + "its changes there: understudy export --identity \(word.store) --only queue, then "
                    + "understudy import --identity \(other).")
        }
        return isNew
    }

    /// Notes stores that were bound to the backend, and that wait for a sign-in of their users. It is on disk
    /// after ``save()``.
    func wait(for stores: [String]) {
        kept.change { entries in
            let before = entries
            for store in stores where Identity.isKey(store) {
                if let place = entries.firstIndex(where: { $0.store == store }) {
                    entries[place].isWaiting = true
                } else {
                    entries.append(Entry(store: store, backend: backend))
                }
            }
            return entries != before
        }
    }

    /// Blocks until all earlier changes are on disk.
    /// - Throws: why the file cannot be written. The changes hold in memory until the process ends.
    func save() throws(FileFailure) { try kept.save() }

    private static func entries(_ file: String) throws(StartProblem) -> [Entry] {
        var reason = "It is no list of stores."
        do {
            guard let bytes = try Files.read(file) else { return [] }
            if let list = try JSONValue(parsing: bytes)["stores"]?.array {
                let entries = list.compactMap(entry)
                if entries.count == list.count { return entries }
            }
        } catch {
            reason = "\(error)"
        }
        throw StartProblem(
            "\(file), which says which users have stores of another backend, cannot be read: \(reason) "
                + "Mend or remove it, and say it again with --rebind --identity STORE=USER.")
    }

    private static func entry(_ json: JSONValue) -> Entry? {
        guard let store = json["store"]?.string, Identity.isKey(store),
            let backend = json["backend"]?.string
        else { return nil }
        return Entry(
            store: store, backend: backend, user: json["user"]?.string,
            identity: json["identity"]?.string, isWaiting: json["waiting"]?.bool ?? true)
    }

    private static func text(_ entries: [Entry]) -> String {
        JSONValue.members(
            (
                "stores",
                .array(
                    entries.map {
                        .members(
                            ("store", .string($0.store)), ("backend", .string($0.backend)),
                            ("user", .text($0.user)), ("identity", .text($0.identity)),
                            ("waiting", .bool($0.isWaiting)))
                    })
            )
        ).text
    }
}

extension DataFolder {
    /// The file of ``StoreOwners``.
    var ownersFile: String { "\(path)/owners" }

    /// The stores that were bound to another backend, and whose users have not signed in there yet.
    /// - Throws: ``StartProblem`` if the file of ``StoreOwners`` cannot be read.
    package func waitingStores() throws(StartProblem) -> Set<String> {
        try StoreOwners.waiting(file: ownersFile)
    }

    /// The folder of the stores that were put aside.
    var replacedStores: String { "\(path)/stores.replaced" }

    /// Whether a text is an identity that has a store, or had one that was put aside.
    func hasHadStore(_ identity: String) -> Bool {
        Identity.isKey(identity)
            && (Files.exists(storePath(identity)) || Files.exists("\(replacedStores)/\(identity)"))
    }

    /// Puts the store of an identity aside that gets another one, if there is one. All its rows are the
    /// backend's.
    /// - Throws: ``StartProblem`` if the store has changes of its own, or cannot be read.
    func putAside(_ identity: String) throws(StartProblem) {
        guard Identity.isKey(identity), Files.exists(storePath(identity)) else { return }
        let aside = "\(replacedStores)/\(identity)"
        switch inspect(identity) {
        case .failure(let error):
            throw StartProblem(
                "The store \(identity) cannot be read, so it stays: \(error) `understudy doctor` says more."
            )
        case .success(let contents):
            let open = contents.ledger.queue.open
            guard open == 0 else {
                throw StartProblem(
                    "The store \(identity) has \(open) changes that were not sent, so no other store can "
                        + "take its place. Start without --identity, let its user sign in and sync until "
                        + "none is left, then stop and try again.")
            }
        }
        do {
            try Files.makeFolder(replacedStores)
            if Files.exists(aside) { try Files.removeFolder(aside) }
            try Files.rename("\(path)/stores/\(identity)", to: aside)
        } catch {
            throw StartProblem("\(error)")
        }
    }
}

/// The operator's word that a user of the present backend gets a store that began under another backend:
/// `serve --rebind --identity STORE=USER`.
package struct StoreTakeover: Sendable, Hashable {
    /// The key of the store, as `understudy identities` shows it.
    package let store: String
    /// The user's id at the present backend, or the key of the identity that the user already has here.
    package let user: String

    /// Reads `STORE=USER`; nil if a text is not of this form, or names the store twice.
    package init?(_ text: String) {
        guard let sign = text.firstIndex(of: "=") else { return nil }
        store = String(text[..<sign])
        user = String(text[text.index(after: sign)...])
        let names = [store, user]
        guard Identity.isKey(store), !user.isEmpty, store != user,
            !names.contains(Identity.anonymousKey)
        else { return nil }
    }
}
