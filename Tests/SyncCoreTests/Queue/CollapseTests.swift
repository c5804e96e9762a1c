import Testing

@testable import SyncCore

@Suite struct CollapseTests {
    struct Case: Sendable, CustomStringConvertible {
        let pending: OperationKind
        let state: OperationState
        let reached: Bool
        let new: OperationKind
        var description: String { "\(pending)/\(state)\(reached ? "/reached" : "") + \(new)" }
    }

    static let states: [(OperationState, Bool)] = [
        (.queued, false), (.queued, true), (.sending, true), (.waiting, false), (.waiting, true),
        (.unknown, true), (.conflict, false), (.quarantined, false), (.quarantined, true),
    ]

    static let cases = OperationKind.allCases.flatMap { pending in
        states.flatMap { state, reached in
            OperationKind.allCases.map {
                Case(pending: pending, state: state, reached: reached, new: $0)
            }
        }
    }

    /// The expected matrix, written independently of the code under test.
    static func expected(_ it: Case) -> CollapseDecision {
        if it.pending == .delete {
            switch it.new {
            case .delete: return .nothing
            case .insert, .undelete: return it.reached ? .successor : .change(to: .update)
            case .update: return it.reached ? .refuse(.gone) : .change(to: .update)
            case .replace: return it.reached ? .refuse(.gone) : .change(to: .replace)
            }
        }
        if it.new == .insert { return .refuse(.alreadyExists) }
        if it.new == .undelete { return .nothing }
        if it.reached { return .successor }
        if it.new == .delete {
            let isMade = it.pending == .insert || it.pending == .undelete
            return isMade && it.state != .conflict ? .cancel : .change(to: .delete)
        }
        if it.pending == .undelete { return .successor }
        if it.pending == .insert { return .change(to: .insert) }
        return .change(to: it.pending == .update && it.new == .update ? .update : .replace)
    }

    @Test(arguments: cases)
    func `each pair is decided as the matrix says`(_ it: Case) {
        let pending = Collapse.Pending(
            kind: it.pending, state: it.state, mayHaveReached: it.reached)
        #expect(Collapse.decide(pending: pending, new: it.new) == Self.expected(it))
    }

    @Test(arguments: cases)
    func `an update does not move back across an insert`(_ it: Case) {
        let pending = Collapse.Pending(
            kind: it.pending, state: it.state, mayHaveReached: it.reached)
        let isDue = it.state != .conflict && it.state != .quarantined
        let moves = it.pending == .insert || it.pending == .update || it.pending == .replace
        let isUpdate = it.new == .update || it.new == .replace
        #expect(
            Collapse.decide(pending: pending, new: it.new, Collapse.Rules(crossesInsert: true))
                == (isDue && moves && isUpdate ? .successor : Self.expected(it)))
    }

    @Test(arguments: cases)
    func `an update goes before the delete where deleted rows are kept`(_ it: Case) {
        let pending = Collapse.Pending(
            kind: it.pending, state: it.state, mayHaveReached: it.reached)
        let isDue = it.state != .conflict && it.state != .quarantined
        let isSent = (it.pending == .update || it.pending == .replace) && it.new == .delete
        #expect(
            Collapse.decide(pending: pending, new: it.new, Collapse.Rules(sendsUpdateFirst: true))
                == (isDue && isSent ? .successor : Self.expected(it)))
    }

    @Test(arguments: OperationKind.allCases)
    func `without a pending operation a write is one of its own`(_ new: OperationKind) {
        #expect(Collapse.decide(pending: nil, new: new) == .append)
    }

    @Test(arguments: [OperationKind.insert, .update, .delete])
    func `the strict queue refuses what follows a delete as the SDKs do`(_ new: OperationKind) {
        let pending = Collapse.Pending(kind: .delete, state: .queued, mayHaveReached: false)
        #expect(
            Collapse.decide(pending: pending, new: new, Collapse.Rules(strictSDK: true))
                == .refuse(.strictSDK(pending: .delete, new: new)))
    }
}
