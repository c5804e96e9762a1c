import Storage
public import TablesProtocol

/// Changes that go from one store to another one: what was written without a sign-in, to the user who wrote it.
struct Handover: Sendable {
    /// As they were in the giving store, in their order.
    let operations: [TableOperation]

    /// A random id of the handover.
    var id: OperationID { operations.first?.id ?? "" }

    /// The same handover without the operations of these items.
    func without(_ refused: Set<Int64>) -> Handover {
        let items = Set(operations.filter { refused.contains($0.seq) }.map(\.item))
        return Handover(operations: operations.filter { !items.contains($0.item) })
    }
}

/// Which operations are handed over.
public enum HandoverChoice: Sendable, Hashable {
    /// Those that wait for a sign-in: all, or those that the backend has answered with 401.
    case unsigned(all: Bool)
    /// Those that the last handover brought.
    case brought
}

extension TableOperation {
    fileprivate var item: [String] { [String(tableID), itemID.text] }

    /// The write that makes the operation in a store that has no operation of the item.
    fileprivate var localWrite: LocalWrite {
        let columns = payload ?? Columns()
        let action: WriteAction =
            switch kind {
            case .insert: .insert(ItemBody(id: isAssigned ? nil : itemID, columns: columns))
            case .update: .update(itemID, changes)
            case .replace: .replace(itemID, columns)
            case .delete: .delete(itemID)
            case .undelete: .undelete(itemID)
            }
        return LocalWrite(
            table: table, action: action, generation: generation, parameters: parameters,
            headers: headers, trace: trace, actor: actor)
    }
}

/// The steps of a handover. Two files cannot commit together, so each step is one transaction and can be
/// repeated:
///
/// 1. The giving store closes the operations and notes them. It sends none of them from then on, and keeps
///    them whatever their age.
/// 2. The taking store writes them as a client would, each from the base that it had, and notes the handover:
///    one that it has noted is not written again.
/// 3. The giving store writes anew what the other refused, and forgets the handover.
struct HandingOver: InTransaction {
    let transaction: Transaction

    /// The `seq` of each operation that the store has given and not forgotten.
    static let givenKey = "handover.given"
    /// The last handover that the store took: its id, the refused operations by their `seq` in the giving store, and
    /// the written ones by their `seq` here.
    private static let takenKey = "handover.taken"

    /// The operations of a choice: none that may have reached the backend. Those of an item go together.
    func choose(_ choice: HandoverChoice) throws -> Handover {
        let open = try transaction.all(
            "\(TableOperation.select) WHERE closed_at IS NULL AND NOT is_public ORDER BY seq", [],
            TableOperation.init)
        let brought = try taken()?.written ?? []
        let kept = open.filter { operation in
            guard [.queued, .waiting].contains(operation.state), !operation.mayHaveReached else {
                return true
            }
            switch choice {
            case .unsigned(all: true): return false
            case .unsigned(all: false):
                let isFirst = operation.successorOf == nil && operation.waitsFor == nil
                return isFirst && operation.lastStatus != 401
            case .brought: return !brought.contains(operation.seq) || operation.attempts > 0
            }
        }
        return Handover(operations: open).without(Set(kept.map(\.seq)))
    }

    /// The first step.
    func give(_ handover: Handover, to identity: String) throws {
        guard try given() == nil else { return }
        for operation in handover.operations.reversed() {
            _ = try discarding.discard(operation.id, revision: nil, reason: "Given to \(identity).")
            // An undo would bring the operation back here, although the other store has it.
            try transaction.run(
                """
                UPDATE history SET undoable = 0
                WHERE op_id = ? AND undoable = 1 AND kind IN ('resolved', 'discarded')
                """, [operation.id])
        }
        try setMeta(Self.givenKey, list(handover.operations.map(\.seq)))
    }

    /// The handover that was given and is not finished; nil without one.
    func given() throws -> Handover? {
        guard let text = try meta(Self.givenKey) else { return nil }
        return Handover(operations: try seqs(text).compactMap { try queue.operation(seq: $0) })
    }

    /// The second step.
    /// - Returns: the operations that this store refuses as it would refuse a client's, by their `seq` there.
    func take(_ handover: Handover, _ rules: WriteRules) throws -> Set<Int64> {
        if let taken = try taken(), taken.id == handover.id { return taken.refused }
        var (refused, written): (Set<Int64>, Set<Int64>) = ([], [])
        var refusedItems: Set<[String]> = []
        for operation in handover.operations {
            let isAllowed = !refusedItems.contains(operation.item)
            let outcome = isAllowed ? try writing.perform(operation.localWrite, rules) : .missing
            if !outcome.isSuccess {
                refused.insert(operation.seq)
                refusedItems.insert(operation.item)
            }
            guard let made = outcome.operation, made.isOwn else { continue }
            // A change of another writer since then is a conflict, as if the client had written here.
            try transaction.run(
                """
                UPDATE operations SET made_id = ?, base_version = ?, base_row = ?, conditional = ?
                WHERE op_id = ? AND successor_of IS NULL AND revision = 1
                """,
                [
                    operation.hasGeneratedID, operation.baseVersion, operation.baseRow?.text,
                    operation.conditional, made.id,
                ])
            if let seq = try queue.operation(id: made.id)?.seq { written.insert(seq) }
        }
        try setMeta(Self.takenKey, "\(handover.id)/\(list(refused))/\(list(written))")
        return refused
    }

    /// The last step.
    /// - Parameter refused: the operations that the other store refused.
    func finish(_ handover: Handover, refused: Set<Int64>, _ rules: WriteRules) throws {
        guard try given()?.id == handover.id else { return }
        for operation in handover.operations where refused.contains(operation.seq) {
            guard try writing.perform(operation.localWrite, rules).isSuccess else {
                throw StoreError.failed("The change of \(operation.itemID) cannot come back.")
            }
        }
        try removeMeta(Self.givenKey)
        events.emit(.status)
    }

    private func taken() throws -> (id: String, refused: Set<Int64>, written: Set<Int64>)? {
        let parts = try meta(Self.takenKey)?.split(
            separator: "/", omittingEmptySubsequences: false)
        guard let parts, parts.count == 3 else { return nil }
        return (String(parts[0]), Set(seqs(parts[1])), Set(seqs(parts[2])))
    }

    private func list(_ seqs: some Sequence<Int64>) -> String {
        seqs.map(String.init).joined(separator: ",")
    }

    private func seqs(_ text: some StringProtocol) -> [Int64] {
        text.split(separator: ",").compactMap { Int64($0) }
    }
}

extension Store {
    private static let partnerKey = "handover.with"

    /// Hands operations over to another store.
    /// - Parameter noting: the store of the two that notes the other's identity until all is done.
    /// - Returns: how many operations the choice has, and how many the other store takes.
    public func handOver(
        _ choice: HandoverChoice, to taker: Store, noting: Store, isDryRun: Bool
    ) async throws(StoreError) -> (matched: Int, taken: Int) {
        let (identity, rules) = (taker.identity, taker.rules)
        let partner = noting.identity == self.identity ? identity : self.identity
        let found = try await read { try HandingOver(transaction: $0).choose(choice) }
        let taken = try await taker.preview {
            found.without(try HandingOver(transaction: $0).take(found, rules))
        }
        let counts = (found.operations.count, taken.operations.count)
        guard !isDryRun, counts.1 > 0 else { return counts }
        try await noting.write { try $0.setMeta(Self.partnerKey, partner) }
        try await write { try HandingOver(transaction: $0).give(taken, to: identity) }
        return counts
    }

    /// Finishes the handovers between this store, which noted them, and another one, also after a crash.
    public func finishHandovers(with other: Store) async throws(StoreError) {
        for (giver, taker) in [(self, other), (other, self)] {
            let (rules, takerRules) = (giver.rules, taker.rules)
            let given = try await giver.read { try HandingOver(transaction: $0).given() }
            guard let given else { continue }
            let refused = try await taker.write {
                try HandingOver(transaction: $0).take(given, takerRules)
            }
            try await giver.write {
                try HandingOver(transaction: $0).finish(given, refused: refused, rules)
            }
        }
        try await write { try $0.removeMeta(Self.partnerKey) }
    }

    /// The identity with whose store a handover is not finished; nil without one.
    public func handoverPartner() async throws(StoreError) -> String? {
        try await read { try $0.meta(Self.partnerKey) }
    }

    /// How many operations wait for a sign-in, and since when; nil if none does.
    /// - Parameter all: see ``HandoverChoice``.
    public func unsigned(all: Bool) async throws(StoreError) -> (count: Int, since: Instant)? {
        try await read { transaction in
            let found: (count: Int64, since: Int64?)? = try transaction.first(
                """
                SELECT count(*), min(created_at) FROM operations JOIN tables ON tables.id = table_id
                WHERE state IN ('queued', 'waiting') AND NOT is_public AND (? OR last_status = 401)
                """, [all]
            ) { ($0[0], $0[1]) }
            guard let found, let since = found.since else { return nil }
            return (Int(found.count), Instant(milliseconds: since))
        }
    }
}
