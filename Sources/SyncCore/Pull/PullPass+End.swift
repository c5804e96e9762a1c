import HTTPTypes
import TablesProtocol

extension PullPass {
    /// The whole answer is here: the table is complete, and what the backend no longer has goes.
    func finish(_ state: PullState) async throws(StoreError) -> PullState {
        var state = state
        let (request, seen, begun, plan) = (request, state.plan.ids, state.begun, state.plan)
        let removes = state.removesUnseen
        let token = state.token
        let hasIntegerIDs = await assignsIDs(state)
        state.report.deleted += try await store.write { transaction in
            var record =
                try transaction.table(request.table) ?? transaction.makeTable(request.table)
            if hasIntegerIDs { try transaction.adoptIntegerIDs(&record) }
            var removed = 0
            if request.isWhole {
                if removes {
                    removed = try transaction.removeUnseen(seen, from: record, asOf: begun)
                }
                record.isComplete = true
            }
            if request.keepsToken {
                var token = try token ?? transaction.token(record, of: request)
                if removes, !request.isWhole {
                    removed = try transaction.removeLeft(seen, token, from: record, asOf: begun)
                }
                token.isComplete = true
                token.lastRunAt = transaction.now
                try transaction.save(token)
            }
            record.lastPullAt = transaction.now
            record.warning = plan.warning
            try transaction.save(record)
            return removed
        }
        return state
    }

    /// Whether a table without rows is one whose ids the backend assigns: there, first generation
    /// servers refuse an id that is no number, while others have no such item.
    private func assignsIDs(_ state: PullState) async -> Bool {
        guard remote.generation == .mobileServices, request.isWhole, state.report.received == 0,
            state.token?.isComplete != true
        else { return false }
        let probe = RemoteRequest(
            method: .get, target: "/tables/\(request.table.text)/understudy")
        guard case .rejected(status: 400, _) = await remote.send(probe, asList: false).answer else {
            return false
        }
        return true
    }
}
