import HTTPMessage
import HTTPTypes
import TablesProtocol

extension Remote {
    /// What the list that was asked for one row proves about it, as a list with the row or an empty one.
    ///
    /// 1. The row itself is proof, and so is an empty list.
    /// 2. Other rows say that the backend ignored the filter: the row may be on a later page. Then it is
    ///    asked for by its id, where a 404 or 410 says that it is not there, since its table is.
    /// 3. Any other answer is no proof, and is given back as it is.
    func proof(
        _ answer: RemoteAnswer, of id: ItemID, in table: TableName
    ) async -> RemoteAnswer {
        guard case .rows(let page) = answer, !page.elements.isEmpty else { return answer }
        if let row = page.rows.first(where: { $0.id == id }) {
            return .rows(RemotePage(elements: [.row(row)], hasNext: false))
        }
        let single = await row(id, in: table)
        switch single {
        case .row(let row) where row.id == id:
            return .rows(RemotePage(elements: [.row(row)], hasNext: false))
        case .missing: return .rows(RemotePage(elements: [], hasNext: false))
        case .row, .empty: return .unusable(status: 200, .unexpectedShape)
        default: return single
        }
    }

    /// One row by its id, deleted or not.
    func row(_ id: ItemID, in table: TableName) async -> RemoteAnswer {
        var pairs = ["__includeDeleted=true"]
        if generation == .mobileServices { pairs.append("__systemproperties=*") }
        let path = "/tables/\(table.text)/\(PercentCoding.encode(id.text))"
        let request = RemoteRequest(
            method: .get, target: path + "?" + pairs.joined(separator: "&"))
        return await send(request, asList: false).answer
    }

    /// The rows above an id: the first page, and those that follow it until one is empty.
    func rest(
        of answer: RemoteAnswer, of table: TableName, after highest: Int64
    ) async -> RemoteAnswer {
        guard case .rows(var whole) = answer else { return answer }
        var last = whole
        var reached = highest
        while let next = last.elements.compactMap({ $0.itemID?.number }).max(), next > reached {
            reached = next
            let answer = await list(table, IntegerInsert.since(next))
            guard case .rows(let page) = answer else { return answer }
            whole.elements += page.elements
            last = page
        }
        return .rows(whole)
    }
}
