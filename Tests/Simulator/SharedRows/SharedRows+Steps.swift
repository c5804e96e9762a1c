import HTTPMessage
import SyncCore
import TablesProtocol

extension SharedRows {
    func step(_ proxy: SharedRowsProxy) async throws {
        if try await takeOtherStep(proxy) { return }
        switch random.next(below: 100) {
        case 0..<32 where plan.bringsBackOften && random.happens(0.5): try await bringBack(proxy)
        case 0..<32: try await writeHere(proxy)
        case 32..<34: try await bringBack(proxy)
        case 34..<54: writeElsewhere()
        case 54..<72: try await sync(proxy)
        case 72..<88: try await actAsPerson(proxy)
        case 88..<92 where plan.habits.contains(.parameter):
            try await listByRegion(proxy, follows: random.happens(0.5))
        case 88..<95: changeFaultPlan(of: proxy)
        case 95: proxy.transport.faultPlan.hasUnusableRow.toggle()
        case 96:
            // Only for a table that existed: a table that was never there is a different case.
            guard try await proxy.store.tables().contains(where: \.isComplete) else { return }
            proxy.transport.faultPlan.hasNoTable.toggle()
        case 97: try await syncBehindPortal(proxy)
        case 98 where plan.habits.contains(.failingTable): try await failOneTable(proxy)
        default: clock.advance(by: .seconds(Int64(random.next(below: 900))))
        }
    }

    /// Sometimes takes a step that only some habits have.
    private func takeOtherStep(_ proxy: SharedRowsProxy) async throws -> Bool {
        let steps = plan.habits.intersection([.quota, .unreadableRows, .silentChanges, .customAPI])
        guard !steps.isEmpty, other.happens(0.08 * Double(steps.count)) else { return false }
        switch other.pick(steps.sorted { $0.rawValue < $1.rawValue }) {
        case .quota: try await spendQuota(proxy)
        case .unreadableRows: try await readByID(proxy)
        case .silentChanges: changeSilently()
        case .customAPI: try await callAPI(proxy)
        default: return false
        }
        return true
    }

    /// Changes how often requests fail, and which wrong answers the backend gives.
    func changeFaultPlan(of proxy: SharedRowsProxy) {
        var faultPlan = proxy.transport.faultPlan
        faultPlan.faultRate = random.pick([0, 0, 0.2, 0.6, 1])
        // With both wrong answers at once, no client could find out whether a row exists.
        faultPlan.ignoresFilters = random.happens(0.25)
        faultPlan.hidesRows = !faultPlan.ignoresFilters && random.happens(0.2)
        hasAnsweredWrongly =
            hasAnsweredWrongly || faultPlan.ignoresFilters || faultPlan.hidesRows
        proxy.transport.faultPlan = faultPlan
        note("p\(proxy.number) \(faultPlan)")
    }

    /// Syncs, and checks that a push which the backend accepted unchanged is invisible to clients.
    private func sync(_ proxy: SharedRowsProxy) async throws {
        note("p\(proxy.number) sync")
        let (before, begin, time) = (try await proxy.rows(), trace.count, clock.uptime())
        let run = random.happens(0.5) ? await proxy.engine.push() : await proxy.engine.sync()
        for (id, item) in try await proxy.rows() {
            // A row that the backend gave an id is another one to clients.
            guard let old = before[id], old.id == item.id,
                ValueHistory.row(old) == ValueHistory.row(item)
            else { continue }
            // A concurrent writer may have changed the row and changed it back.
            let wasWritten = trace[begin...].contains { line in
                line.contains(" \(id) ") && !line.contains(" /tables/")
            }
            // A replica that is behind shows other writers' changes and takes them back.
            if old.version != item.version, !wasWritten, replica == nil {
                fault("\(id) has another version, and shows nothing else", id)
            }
        }
        let (rows, remote) = (try await proxy.rows(), remote())
        for (name, row) in try await proxy.stored() where row.serverVersion != nil {
            known.insert("\(proxy.number) \(name)")
        }
        for (name, row) in try await proxy.stored() {
            guard let version = row.serverVersion, remote[name]?.version != version,
                replacedVersions["\(proxy.number) \(name)"]?.contains(version) == true
            else { continue }
            fault("\(name) has again the version that its own push replaced", name)
        }
        try await checkClosed(proxy)
        unverdicted = unverdicted.filter { rows[$0] == nil || rows[$0]?.id != remote[$0]?.id }
        try await checkConflicts(proxy)
        try await checkRefusals(proxy, since: time)
        if random.happens(0.2) { try await compareClient(proxy) }
        if plan.hasIntegerIDs(tables[0]), random.happens(0.3) {
            try await checkProvisionalIDs(proxy)
        }
        guard run.state == .complete, proxy.transport.faultPlan.faultRate == 0 else { return }
        let waiting = try await proxy.store.lists.operations(
            OperationFilter(states: [.waiting, .unknown]), after: nil, limit: 100
        ).items
        // An operation without attempts may wait for another item, or for a time that the backend named.
        if let one = waiting.first(where: { $0.attempts > 0 }) {
            fault("a sync is complete, and \(one.itemID) waits: \(one.reason ?? "")", one.itemID)
        }
    }

    /// Refuses the first pulls of a new table.
    func refuseFirstPulls() async throws {
        for proxy in proxies {
            proxy.transport.faultPlan.refusesPages = true
            for table in tables { _ = await proxy.engine.pull(table) }
            if try await proxy.store.tables().contains(where: \.isComplete) {
                fault("a table is complete that was never pulled")
            }
            proxy.transport.faultPlan.refusesPages = false
        }
    }

    /// Another server answers the first list after a failure, although the backend is known.
    private func syncBehindPortal(_ proxy: SharedRowsProxy) async throws {
        guard let known = await proxy.engine.knownGeneration else { return }
        proxy.transport.faultPlan.faultRate = 1
        _ = await proxy.engine.sync()
        proxy.transport.faultPlan.faultRate = 0
        await proxy.engine.forgetProof()
        proxy.transport.faultPlan.strayLists = 1
        _ = await proxy.engine.push()
        proxy.transport.faultPlan.strayLists = 0
        if let now = await proxy.engine.knownGeneration, now != known {
            fault("a stray list changed the generation")
        }
    }

    /// A gateway answers "later" from some write on. Nothing is refused for that, nothing is sent before the time
    /// that it names, and all is sent afterwards.
    private func spendQuota(_ proxy: SharedRowsProxy) async throws {
        let usual = proxy.transport.faultPlan
        proxy.transport.faultPlan = SharedRowsTransport.FaultPlan()
        let was = isInterfering
        isInterfering = true
        defer { isInterfering = was }
        _ = await proxy.engine.sync()
        let names = (0..<3).map { _ in newName("i") }
        for name in names { try await write(name, at: proxy) }
        let status = other.pick([403, 403, 407, 421, 425])
        let retryAfter = status == 403 || other.happens(0.3) ? 60 : nil
        proxy.transport.faultPlan.gateway = (status, Int(other.next(below: 3)), retryAfter)
        proxy.transport.counts = SharedRowsTransport.Counts()
        note("p\(proxy.number) the gateway answers \(status), Retry-After \(retryAfter ?? 0)")
        for _ in 0..<3 {
            _ = await proxy.engine.sync()
            clock.advance(by: .seconds(10))
        }
        let early = proxy.transport.counts.early
        if early > 0 { fault("\(early) requests were sent before the Retry-After of a \(status)") }
        let open = try await proxy.store.lists.operations(
            OperationFilter(states: [.quarantined]), after: nil, limit: 200
        ).items
        for one in open where one.lastStatus == status && answers[one.id]?.isRefusal != true {
            let name = try await proxy.name(of: one.itemID, in: one.table)
            fault("\(name) is refused for a \(status): \(one.reason ?? "")", name)
        }
        if try await proxy.engine.status().backend.state == .online {
            fault("the backend is online while each answer is \(status)")
        }
        proxy.transport.faultPlan = SharedRowsTransport.FaultPlan()
        clock.advance(by: .seconds(900))
        _ = await proxy.engine.sync()
        let remote = remote()
        for name in names where remote[name] == nil && !refused.contains(name) {
            fault("\(name) is not sent after the gateway answered \(status)", name)
        }
        proxy.transport.faultPlan = usual
    }

    /// Clients insert rows into a table that gives none. Each is sent once the backend can be reached.
    func insertOnly(steps: Int) async throws {
        isInterfering = true
        for _ in 0..<steps / 3 where faults.isEmpty {
            let proxy = random.pick(proxies)
            switch random.next(below: 4) {
            case 0: proxy.transport.faultPlan.faultRate = random.pick([0, 1])
            case 1: _ = await proxy.engine.sync()
            default: try await write(newName("i"), at: proxy)
            }
            clock.advance(by: .seconds(20))
        }
        for proxy in proxies {
            proxy.transport.faultPlan = SharedRowsTransport.FaultPlan()
            for _ in 0..<3 {
                clock.advance(by: .seconds(900))
                _ = await proxy.engine.sync()
            }
            for one in try await proxy.store.contents(of: tables[0]).open {
                fault("\(one.itemID) is \(one.state): \(one.reason ?? "")", one.itemID)
            }
        }
        let remote = remote()
        for name in names where remote[name] == nil {
            fault("\(name) was inserted here and is not at the backend", name)
        }
    }

    /// A client's read of one row gets that row, a refusal, or the sentence that there is no answer.
    private func readByID(_ proxy: SharedRowsProxy) async throws {
        let unreadable = names.filter { plan.isUnreadable($0) }
        guard let name = unreadable.isEmpty ? nil : other.pick(unreadable) else { return }
        let read = ForwardedRead(
            table: table(of: name), target: .item(try ItemID(name), includeDeleted: false),
            generation: .mobileApps)
        switch await proxy.engine.forward(read) {
        case .other(let response):
            let text = String(decoding: response.bytes ?? [], as: UTF8.self)
            fault("a read of \(name) is answered with \(text)", name)
        case .item(let item) where item.id.text != name:
            fault("a read of \(name) is answered with \(item.id)", name)
        case .item, .page, .refused, .withoutRow, .unreachable, .untranslatable: break
        }
    }

    /// While one table fails, the others are pushed and pulled all the same, and the one that fails is asked
    /// seldom.
    private func failOneTable(_ proxy: SharedRowsProxy) async throws {
        let usual = proxy.transport.faultPlan
        proxy.transport.faultPlan = SharedRowsTransport.FaultPlan()
        _ = await proxy.engine.sync()
        let failing = random.pick(tables)
        guard let other = tables.first(where: { $0 != failing }) else { return }
        var written: [TableName: String] = [:]
        for table in tables {
            let name = newName(table == Self.notes ? "n" : "i")
            try await write(name, at: proxy)
            if names.contains(name) { written[table] = name }
        }
        let retryAfter = random.happens(0.4) ? "120" : nil
        proxy.transport.faultPlan.failing = (failing, random.pick([502, 503, 504]), retryAfter)
        proxy.transport.counts = SharedRowsTransport.Counts()
        note("p\(proxy.number) \(failing) fails")
        let syncs = 4
        var last: Run?
        isInterfering = true
        for _ in 0..<syncs {
            last = await proxy.engine.sync()
            clock.advance(by: .seconds(10))
        }
        isInterfering = false
        let remote = remote()
        if let name = written[other], remote[name] == nil, !refused.contains(name) {
            fault(
                "\(name) of \(other) is not sent while \(failing) fails: \(last?.reason ?? "")",
                name)
        }
        if let pull = last?.pull.first(where: { $0.table == other.text }) {
            if let error = pull.error {
                fault("\(other) is not pulled while \(failing) fails: \(error)")
            }
        } else {
            fault("\(other) is not pulled while \(failing) fails: \(last?.state.rawValue ?? "")")
        }
        if let state = try? await proxy.engine.status().backend.state, state != .online {
            fault("the backend is \(state) while \(failing) alone fails")
        }
        let asked = proxy.transport.counts.failing
        if asked > (retryAfter == nil ? syncs * 4 : 6) {
            fault("\(failing) was asked \(asked) times in \(syncs) syncs while it failed")
        }
        proxy.transport.faultPlan = SharedRowsTransport.FaultPlan()
        clock.advance(by: .seconds(900))
        isInterfering = true
        _ = await proxy.engine.sync()
        isInterfering = false
        if let name = written[failing], self.remote()[name] == nil, !refused.contains(name) {
            fault("\(name) of \(failing) is not sent after \(failing) failed", name)
        }
        proxy.transport.faultPlan = usual
    }

    /// A list with a query pair of the client's own has the rows that the backend gives with it: all of them
    /// after the backend was asked, and never one that it did not give.
    func listByRegion(_ proxy: SharedRowsProxy, follows: Bool) async throws {
        let region = random.pick(["EU", "US"])
        let pair = QueryParameter(name: "region", value: region, raw: "region=\(region)")
        guard let pairs = OwnPairs([pair]) else { return }
        let was = isInterfering
        isInterfering = true
        defer { isInterfering = was }
        let isFollowed = follows ? await proxy.engine.follow(pairs, of: tables[0]) : false
        let stored = try await proxy.stored()
        let shown = try listed(proxy, pairs).filter { stored[$0]?.isPending != true }
        let value = "\"\(region)\""
        for name in shown where !history.existed(value, "region", of: name) {
            fault("\(name) is in the list of \(region), where it never was", name)
        }
        guard isFollowed, !proxy.transport.faultPlan.isFaulty else { return }
        let remote = remote().filter { table(of: $0.key) == tables[0] && !$0.value.deleted }
        for (name, item) in remote
        where stored[name]?.isPending != true && !proxy.transport.isHidden(name) {
            let isThere = item.columns["region"]?.text == value
            if isThere != shown.contains(name) {
                fault("\(name) is \(isThere ? "not " : "")in the list of \(region)", name)
            }
        }
    }

    /// The names of the rows that the store lists for a client's own pairs.
    private func listed(_ proxy: SharedRowsProxy, _ pairs: OwnPairs) throws -> Set<String> {
        let outcome = proxy.store.list(
            proxy.store.find(tables[0], worker: 0), TableQuery(), generation: .mobileApps,
            pageRows: 500, within: pairs)
        switch outcome {
        case .page(let page), .partial(let page):
            return Set(page.items.map { plan.name(of: $0, in: tables[0]) })
        case .unknownTable: return []
        case .beyondPart, .invalid, .overBudget, .failed:
            fault("the list of a client's own pairs is refused")
            return []
        }
    }
}
