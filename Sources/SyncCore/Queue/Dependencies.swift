import Storage
import TablesProtocol

/// The order between operations on different items, as the tables declare it:
///
/// 1. An item is inserted (or undeleted) after the items that its declared columns refer to.
/// 2. It is deleted before them. A change that removes its reference also goes before their deletion.
/// 3. In a cycle of dependencies, operations go in the order in which they were made.
struct Dependencies: InTransaction {
    let transaction: Transaction

    /// Makes an operation wait if another operation has to close first.
    /// - Returns: whether it waits.
    func holdBack(_ seq: Int64) throws -> Bool {
        guard var operation = try queue.operation(seq: seq), operation.state.isOpen,
            let first = try prerequisite(of: operation)
        else { return false }
        operation.state = .waiting
        operation.reason = Self.reason(toWaitFor: first)
        operation.nextAttemptAt = nil
        operation.waitsFor = first.seq
        try queue.save(&operation)
        events.emit(.operation, operation)
        return true
    }

    /// The first operation on another item that has to close before this one is sent; nil without one.
    func prerequisite(of operation: TableOperation) throws -> TableOperation? {
        try prerequisites(of: operation).first { try !waits($0, for: operation) }
    }

    func updateReasons(ofWaitingFor operation: TableOperation) throws {
        let waiting = try transaction.all(
            TableOperation.byWaitsFor, [operation.seq], TableOperation.init)
        for var held in waiting {
            held.reason = Self.reason(toWaitFor: operation)
            try queue.save(&held)
            events.emit(.operation, held)
        }
    }

    private static func reason(toWaitFor first: TableOperation) -> String {
        let what = first.kind == .delete ? "deletion" : first.kind == .update ? "change" : "insert"
        let title = first.title.map { "\"\($0)\" " } ?? ""
        let name = "\(title)(\(first.table.text)/\(first.itemID.text))"
        let rest =
            switch first.state {
            case .quarantined: ", which the backend refused."
            case .conflict: ", which is in conflict."
            case .queued, .sending, .waiting, .unknown, .done, .discarded, .collapsed:
                ", which goes first."
            }
        return "Waits for the \(what) of \(name)\(rest)"
    }

    /// The open operations on other items that have to close before this one is sent.
    private func prerequisites(of operation: TableOperation) throws -> [TableOperation] {
        let found =
            operation.kind == .delete
            ? try referenceRemovals(before: operation) : try referencedInserts(of: operation)
        return found.filter { $0.tableID != operation.tableID || $0.itemID != operation.itemID }
    }

    /// The open inserts and undeletes of items that an operation refers to.
    private func referencedInserts(of operation: TableOperation) throws -> [TableOperation] {
        guard let table = try tables.table(id: operation.tableID) else { return [] }
        var found: [TableOperation] = []
        for link in table.parents {
            guard let value = operation.payload?.value(link.column), !value.isNull,
                let parents = try tables.table(link.table),
                let id = Self.id(value, in: parents),
                let pending = try items.row(parents, id)?.pending,
                let head = try queue.operation(seq: pending)
            else { continue }
            switch head.kind {
            case .insert, .undelete: found.append(head)
            case .update, .replace, .delete: break
            }
        }
        return found
    }

    private static func id(_ value: JSONText, in table: TableRecord) -> ItemID? {
        switch table.idKind {
        case .integer:
            (value.string ?? value.text).utf8.count < 20
                ? Int64(value.string ?? value.text).map { ItemID($0) } : nil
        case .string: try? ItemID(value.string ?? value.text)
        }
    }

    /// The open operations that remove references to the item of a delete.
    private func referenceRemovals(before operation: TableOperation) throws -> [TableOperation] {
        var found: [TableOperation] = []
        for child in try tables.all() {
            for link in child.parents where link.table == operation.table {
                let referring = try transaction.all(
                    """
                    \(TableOperation.select) WHERE table_id = ? AND closed_at IS NULL
                      AND kind IN ('delete', 'update', 'replace') AND instr(base_row, ?) > 0
                    """, [child.id, operation.itemID.text], TableOperation.init)
                found += referring.filter { other in
                    let isLeft = other.baseRow?.names(operation.itemID, in: link.column) ?? false
                    let stays =
                        other.kind != .delete
                        && !other.changedColumns.contains {
                            ExactName(lowercasing: $0) == ExactName(lowercasing: link.column)
                        }
                    return isLeft && !stays
                }
            }
        }
        return found
    }

    /// Whether an operation waits for another one, directly or through further operations. Reads at most
    /// ``SyncLimits/dependencySteps`` operations.
    private func waits(_ operation: TableOperation, for other: TableOperation) throws -> Bool {
        var seen: Set<Int64> = [operation.seq]
        var open = [operation]
        while let next = open.popLast(), seen.count <= SyncLimits.dependencySteps {
            for needed in try prerequisites(of: next) where seen.insert(needed.seq).inserted {
                if needed.seq == other.seq { return true }
                open.append(needed)
            }
        }
        return false
    }
}
