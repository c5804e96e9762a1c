import HTTPTypes
public import TablesProtocol

extension SyncEngine {
    /// Asks the backend for a page of a table that is not here yet, without keeping it.
    /// - Returns: nil when the backend cannot be asked this, or does not answer with rows.
    public func forward(
        _ table: TableName, _ query: TableQuery, pageRows: Int
    ) async -> ItemPage? {
        let credential = credential()
        // Rows without their columns would be no items.
        guard isProven, case .online = scheduler.mode, credential != .missing, query.select == nil
        else { return nil }
        let wanted = min(query.top ?? pageRows, pageRows)
        var asked = query
        asked.top = wanted
        guard let text = try? asked.text(for: generation) else { return nil }
        let properties = generation == .mobileServices ? "&__systemproperties=*" : ""
        let request = RemoteRequest(
            method: .get, target: "/tables/\(table)?\(text)\(properties)")
        let remote = Remote(
            transport: transport, address: backend.address, generation: generation,
            applicationKey: key, credential: credential, clock: clock)
        guard case .rows(let page) = await remote.send(request, asList: true).answer,
            !query.count || page.total != nil
        else { return nil }
        let items = page.rows.prefix(wanted).map { $0.item(seen: clock.now()) }
        let isWholePage = page.rows.count >= wanted
        return ItemPage(
            items: items, count: query.count ? page.total : nil,
            hasMore: (page.hasNext || isWholePage) && query.top != wanted)
    }
}

extension RemoteRow {
    /// The row as an item that is not kept here.
    fileprivate func item(seen: Instant) -> Item {
        Item(
            id: id, columns: columns, createdAt: createdAt.flatMap { Instant(iso: $0) },
            updatedAt: updatedAt.flatMap { Instant(iso: $0) } ?? seen, version: version ?? "",
            deleted: isDeleted)
    }
}
