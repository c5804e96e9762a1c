import TablesProtocol

/// The last write of a client to an item, once its version may be older than the item's.
///
/// The client holds the version that its write was answered with. Later a push brings columns that the backend
/// itself set (an owner, a default), and a pull may bring other writers' changes. The version stays good while
/// only columns have changed that the client did not send. It is good for a write that replaces no other writer's
/// change.
struct OwnWrite: Sendable, Hashable {
    /// The version and the `updatedAt` in ms that the write's answer had.
    var version: String
    var stamp: Int64
    /// The columns that the client sent, with those of earlier changes that were not sent yet; nil for a whole row.
    var sent: [String]?
    /// The columns that the backend has set since when it took the write.
    var unseen: [String] = []
    /// The columns that other writers have changed since.
    var foreign: [String] = []

    /// The write after a change of its item by the backend or another writer; nil if the change ends its version.
    /// - Parameters:
    ///   - names: the columns that have changed.
    ///   - before: the item's columns before.
    ///   - isOwnAnswer: whether the backend made the change while it took the write. A column that `now` lacks is
    ///     one that it does not show.
    func after(
        _ names: [String], of before: Columns, to now: Columns, isOwnAnswer: Bool
    ) -> OwnWrite? {
        let (unseenNames, foreignNames) = (Set(unseen), Set(foreign))
        let sentNames =
            sent.map { Set($0) }
            ?? Set(before.names).subtracting(unseenNames).subtracting(foreignNames)
        let changed = isOwnAnswer ? Set(now.names).intersection(names) : Set(names)
        if !changed.isDisjoint(with: sentNames) { return nil }
        var after = self
        if isOwnAnswer {
            after.unseen += names.filter { !unseenNames.contains($0) }
        } else {
            after.foreign += names.filter { !foreignNames.contains($0) }
        }
        return after
    }
}

extension OwnWrite {
    /// Reads ``text``; nil if the store is damaged.
    init?(stored text: String) {
        let lists = JSONList.lists(text)
        guard lists.count >= 3, lists[0].count == 2, let stamp = Int64(lists[0][1]) else {
            return nil
        }
        self.init(
            version: lists[0][0], stamp: stamp, sent: lists.count > 3 ? lists[3] : nil,
            unseen: lists[1], foreign: lists[2])
    }

    /// A JSON array of arrays of strings.
    var text: String {
        JSONList.text([[version, String(stamp)], unseen, foreign] + (sent.map { [$0] } ?? []))
    }
}

extension ItemEdit {
    /// The client's write, for the row that it results in.
    func ownWrite(version: String, stamp: Int64) -> OwnWrite? {
        guard write.actor.isClient else { return nil }
        var sent: [String]?
        switch kind {
        case .insert, .replace: sent = nil
        case .update, .delete, .undelete: sent = columns.names
        }
        if !chain.isEmpty, let names = sent {
            sent = row.ownWrite?.sent.map { Array(Set($0).union(names)).sorted() }
        }
        return OwnWrite(version: version, stamp: stamp, sent: sent)
    }
}

extension LocalWrite {
    /// The client's earlier write to the item, if the version of that write is good for this one although the
    /// item has another version by now.
    func earlierWrite(of row: ItemRow, in table: TableRecord) -> OwnWrite? {
        guard let own = row.ownWrite, own.version != row.version else { return nil }
        if own.foreign.isEmpty { return own }
        switch action {
        case .update(_, let columns), .patch(_, let columns, deleted: false):
            let foreign = Set(own.foreign)
            let names = columns.names.map { table.spellings.spelling(of: $0) }
            return names.contains(where: foreign.contains) ? nil : own
        case .insert, .replace, .restore, .patch(_, _, deleted: true), .delete, .undelete:
            return nil
        }
    }
}
