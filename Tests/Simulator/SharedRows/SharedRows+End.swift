import Backend
import SyncCore
import TablesProtocol

// The checks, in between and at the end.
extension SharedRows {
    /// A conflict shows what another has changed: the backend's row is not as the change knew it.
    func checkConflicts(_ proxy: SharedRowsProxy) async throws {
        for detail in try await proxy.store.lists.conflicts(after: nil, limit: 50).items {
            guard let server = detail.server, let base = detail.base, !detail.serverDeleted else {
                continue
            }
            let name = try await proxy.name(of: detail.itemID, in: detail.table)
            // Columns of which writers draw the same value again.
            if ["p", "region"].contains(where: { history.hasChanged($0, of: name) }) { continue }
            if Columns(stored: server.text).changedNames(from: Columns(stored: base.text)).isEmpty {
                fault(
                    "\(name) is in conflict, and the backend's row is as the change knew it", name)
            }
        }
    }

    /// What counts as done was done: a row that was deleted was gone at some moment since, and one that was
    /// inserted or brought back was there.
    func checkClosed(_ proxy: SharedRowsProxy) async throws {
        let closed = try await proxy.store.lists.operations(
            OperationFilter(states: [.done]), after: nil, limit: 500
        ).items.filter { !judged.contains($0.id) }
        let (remote, now) = (remote(), clock.now().milliseconds)
        for one in closed {
            judged.insert(one.id)
            let name = try await proxy.name(of: one.itemID, in: one.table)
            let age = Duration.milliseconds(now - one.createdAt.milliseconds)
            let created = clock.uptime() - age
            let isThere = remote[name]?.deleted == false
            let cameLater = livedAt[name].map { $0 >= created } ?? false
            let wentLater = deletedAt[name].map { $0 >= created } ?? false
            switch one.kind {
            case .delete where isThere && !cameLater && !wentLater:
                fault("\(name) counts as deleted, and was there all the time", name)
            case .insert where !isThere && !cameLater && !wentLater,
                .undelete where !isThere && !cameLater && !wentLater:
                fault("the \(one.kind) of \(name) counts as done, and it never was there", name)
            case .delete, .insert, .undelete, .update, .replace: break
            }
        }
    }

    /// What the backend refused, for a reason other than a version, waits for a person with the backend's
    /// sentence, unless the row that it names came later in the same push.
    func checkRefusals(_ proxy: SharedRowsProxy, since begin: Duration) async throws {
        guard !proxy.transport.faultPlan.isFaulty else { return }
        let open = try await proxy.store.lists.operations(
            OperationFilter(states: OperationState.open), after: nil, limit: 200
        ).items
        for one in open {
            guard let answer = answers[one.id], answer.isRefusal, answer.at >= begin,
                !plan.isUnreadable(answer.name)
            else { continue }
            switch one.state {
            case .quarantined:
                if let sentence = answer.sentence, one.reason?.contains(sentence) != true {
                    fault(
                        "\(answer.name) was refused with \(sentence), not: \(one.reason ?? "")",
                        answer.name)
                }
                if let parent = answer.parent, let born = bornAt[parent], born > answer.at,
                    remote()[parent]?.deleted == false
                {
                    fault(
                        "\(answer.name) stays refused, and \(parent) came in the same push",
                        answer.name)
                }
            case .conflict where one.kind == .insert:
                if remote()[answer.name] == nil {
                    fault("\(answer.name) was refused and is a conflict", answer.name)
                }
            case .waiting, .unknown, .sending:
                fault(
                    "\(answer.name) was refused and is \(one.state): \(one.reason ?? "")",
                    answer.name)
            case .conflict, .queued, .done, .discarded, .collapsed: break
            }
        }
    }

    /// Ends every fault, lets the person decide what is left, and checks the end state.
    ///
    /// 1. Every operation is sent. Only those that need a person's decision stay open.
    /// 2. No operation is refused but for a reason that the backend has.
    /// 3. The last syncs send nothing and ask for few pages.
    /// 4. The stores and the backend have the same whole rows, except for items with open operations, and so
    ///    have clients that sync with a store.
    /// 5. Every acknowledged value was at the backend, is in an open operation, or was given up.
    func end() async throws {
        isInterfering = true
        replica?.catchUp()
        for proxy in proxies { proxy.transport.faultPlan = SharedRowsTransport.FaultPlan() }
        proxies[0].transport.faultPlan.hasUnusableRow = true
        if plan.habits.contains(.unreadableRows) {
            for proxy in proxies { try await endUnreadable(proxy) }
        }
        let rounds = 6
        for round in 0..<rounds {
            clock.advance(by: .seconds(3600))
            let isQuiet = round >= rounds - 2
            if isQuiet, plan.habits.contains(.movingRows) { touchAllElsewhere() }
            for proxy in proxies {
                proxy.transport.counts = SharedRowsTransport.Counts()
                let run = await proxy.engine.sync()
                note(
                    "p\(proxy.number) ends: \(run.state) \(run.reason ?? "") \(run.pull.map { $0.error ?? "" })"
                )
                if round < 3 { for _ in 0..<8 { try await decide(proxy) } }
                if isQuiet, proxy.transport.counts.writes > 0 {
                    fault(
                        "p\(proxy.number) sends \(proxy.transport.counts.writes) writes after all was settled"
                    )
                }
                if round == rounds - 1 { checkPages(run) }
            }
        }
        for proxy in proxies {
            if !plan.habits.contains(.silentChanges) { try await checkPulled(proxy) }
            if plan.checksCopies {
                // A check by counts, and one by ids and versions.
                for _ in 0..<2 {
                    clock.advance(by: .seconds(86_400))
                    _ = await proxy.engine.sync()
                }
            } else {
                for table in tables { _ = await proxy.engine.pull(table, reconcile: true) }
            }
            try await checkConflicts(proxy)
            if plan.hasIntegerIDs(tables[0]) { try await checkProvisionalIDs(proxy) }
            let contents = try await proxy.store.contents(of: tables[0])
            if !contents.ledger.balances {
                fault("the ledger does not balance: \(contents.ledger)")
            }
            var open: Set<String> = []
            for one in contents.open {
                let name = try await proxy.name(of: one.itemID, in: one.table)
                open.insert(name)
                try judge(one, name, contents.open)
            }
            try await compare(proxy, open)
            try await compareClient(proxy)
            if plan.habits.contains(.parameter) { try await listByRegion(proxy, follows: true) }
        }
    }

    /// An operation whose row cannot be read back ends after ten tries. Then it, and what waits behind it, can be
    /// edited or discarded, and ends again.
    private func endUnreadable(_ proxy: SharedRowsProxy) async throws {
        for round in 0..<5 {
            for _ in 0..<11 {
                clock.advance(by: .seconds(3600))
                _ = await proxy.engine.sync()
            }
            let open = try await unreadable(proxy)
            for one in open where ![.quarantined, .queued].contains(one.state) {
                fault("\(one.itemID) is \(one.state) after \(one.attempts) tries", one.itemID)
            }
            // The last change of an item is decided first.
            var edited: Set<String> = []
            for one in open.reversed() where !edited.contains(one.itemID) {
                let name = try await proxy.name(of: one.itemID, in: one.table)
                giveUp(name)
                note("p\(proxy.number) ends \(name) \(one.kind) \(one.reason ?? "")")
                // What may have reached the backend is not edited, but its item.
                let isEdited =
                    round == 0 && one.kind != .delete && !one.maybeApplied && other.happens(0.5)
                if isEdited { edited.insert(one.itemID) }
                let outcome =
                    isEdited
                    ? try await edit(one, name, proxy)
                    : try await proxy.store.discard(one.id, revision: nil)
                if case .done = outcome { continue }
                fault("\(name) cannot be \(isEdited ? "edited" : "discarded"): \(outcome)", name)
            }
            if open.isEmpty || !faults.isEmpty { return }
        }
    }

    private func unreadable(_ proxy: SharedRowsProxy) async throws -> [OperationSummary] {
        let open = try await proxy.store.lists.operations(
            OperationFilter(states: OperationState.open), after: nil, limit: 200
        ).items
        return open.filter { plan.isUnreadable($0.itemID) && $0.state != .conflict }
    }

    /// Judges an operation that is open at the end.
    private func judge(
        _ one: OperationSummary, _ name: String, _ all: [OperationSummary]
    ) throws {
        switch one.state {
        case .conflict: break
        // Not every generation can undelete rows, and none can after a hard delete.
        case .quarantined
        where one.kind == .undelete && history.existed("false", ValueHistory.deleted, of: name):
            break
        // A taken id cannot be read back from a backend that ignores filters or hides rows.
        case .quarantined where one.kind == .insert && hasAnsweredWrongly: break
        case .quarantined where answers[one.id]?.wasRefused == true: break
        case .quarantined where plan.isUnreadable(name): break
        case .quarantined:
            fault("\(name) was refused: \(one.reason ?? "")", name)
        case .queued
        where all.contains {
            $0.itemID == one.itemID && $0.table == one.table && $0.state != .queued
        }:
            break
        case .queued, .sending, .waiting, .unknown, .done, .discarded, .collapsed:
            fault("\(name) is \(one.state): \(one.reason ?? "")", name)
        }
    }

    /// The pulls by time have brought every row, without one that compares whole tables.
    private func checkPulled(_ proxy: SharedRowsProxy) async throws {
        let local = try await proxy.stored()
        for (name, item) in remote() where !item.deleted {
            guard let row = local[name] else {
                fault("\(name) is at the backend, and no pull has brought it", name)
                continue
            }
            if !row.isPending, row.item.deleted {
                fault("\(name) is at the backend, and is deleted here after all pulls", name)
            }
        }
    }

    /// A pull after quiet asks for few pages.
    private func checkPages(_ run: Run) {
        for pull in run.pull {
            guard let table = TableName(pull.table) else { continue }
            let rows = (try? backend.items(in: table).count) ?? 0
            let inPage = min(plan.pageRows, plan.habits.contains(.shortPages) ? 4 : 50)
            let most = rows / inPage + 6
            if pull.requests > most {
                fault("a pull of \(rows) rows of \(table) took \(pull.requests) requests")
            }
        }
    }

    /// Compares whole rows at the backend and in a store: columns, deleted, and the backend's version and time.
    private func compare(_ proxy: SharedRowsProxy, _ open: Set<String>) async throws {
        let (remote, local) = (remote(), try await proxy.stored())
        for name in Set(names).union(local.keys) where !open.contains(name) {
            let (here, there) = (local[name], remote[name])
            let (row, other) = (ValueHistory.row(here?.item), ValueHistory.row(there))
            let bothGone =
                row[ValueHistory.deleted] == "true" && other[ValueHistory.deleted] == "true"
            if !bothGone, row != other { fault("\(name) is \(row) here and \(other) there", name) }
            guard let here, let there, !here.item.deleted else { continue }
            if here.item.id != there.id {
                fault("\(name) has the id \(here.item.id) here and \(there.id) there", name)
            }
            if plan.hasVersions, here.serverVersion != there.version {
                fault(
                    "\(name) has the version \(here.serverVersion ?? "none") here and \(there.version) there",
                    name)
            }
            let time = here.serverUpdatedAt.flatMap { Instant(iso: $0) }
            if let time, time.milliseconds != there.updatedAt.milliseconds {
                fault("\(name) changed at \(time) here and \(there.updatedAt) there", name)
            }
        }
        guard plan.conflictPolicy != .server, plan.proxies == 1 else { return }
        for (name, columns) in expected where !open.contains(name) && !givenUp.contains(name) {
            if columns[ValueHistory.deleted] == "true" {
                let isThere = remote[name].map { !$0.deleted } ?? false
                if isThere { fault("\(name) was deleted here and is there", name) }
                continue
            }
            for (column, value) in columns where value != ValueHistory.null {
                if !history.existed(value, column, of: name) {
                    fault("\(name).\(column) = \(value) was accepted and is nowhere", name)
                }
            }
        }
        // What was merged into a deletion that a person gave up is sent.
        for (name, columns) in unburied where !open.contains(name) {
            for (column, value) in columns
            where value != ValueHistory.null && !history.existed(value, column, of: name) {
                fault(
                    "\(name).\(column) = \(value) was accepted before a discarded deletion and is nowhere",
                    name)
            }
        }
        // An update that was refused becomes the delete that follows it.
        for (name, columns) in beneath
        where !open.contains(name) && !givenUp.contains(name) && !refused.contains(name) {
            guard remote[name]?.deleted == true else { continue }
            for (column, value) in columns
            where value != ValueHistory.null && !history.existed(value, column, of: name) {
                fault(
                    "\(name).\(column) = \(value) was accepted before its deletion and not sent",
                    name)
            }
        }
    }

    /// A client that syncs with the proxy by `updatedAt` has the rows that the store shows.
    func compareClient(_ proxy: SharedRowsProxy) async throws {
        let contents = try await proxy.store.contents(of: tables[0])
        try compareClient(proxy, contents.rows)
    }

    private func compareClient(_ proxy: SharedRowsProxy, _ rows: [String: Item]) throws {
        let client = clients[proxy.number]
        try client.sync(proxy.store, tables[0])
        for id in Set(rows.keys).union(client.rows.keys).sorted() where rows[id] != client.rows[id]
        {
            fault(
                "a \(client.kind) client has \(ValueHistory.row(client.rows[id])), and p\(proxy.number)"
                    + " shows \(ValueHistory.row(rows[id])) of \(id)", id)
        }
    }

    /// Another writer changes every row once.
    private func touchAllElsewhere() {
        for (name, item) in remote().sorted(by: { $0.key < $1.key }) where !item.deleted {
            changeElsewhere("PATCH", name)
        }
    }
}
