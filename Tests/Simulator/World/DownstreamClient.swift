import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// A client with an offline store that syncs with the proxy by `updatedAt`, using the queries of an SDK.
final class DownstreamClient {
    /// The SDK whose queries and tokens the client uses.
    enum Kind: String, CaseIterable {
        /// .NET and iOS of the first generation: `__updatedAt ge`; the token advances with each page.
        case first
        /// .NET and iOS of the second generation.
        case second
        /// JavaScript: the last row's `updatedAt` is the next page's token.
        case script
        /// Datasync: `updatedAt gt` with a token in milliseconds; pages follow the next link.
        case datasync

        var generation: Generation {
            switch self {
            case .first: .mobileServices
            case .second, .script: .mobileApps
            case .datasync: .datasync
            }
        }
    }

    let kind: Kind
    /// The rows that it received and that are not deleted.
    private(set) var rows: [String: Item] = [:]
    private var token: Instant?
    private static let pageRows = 4

    init(_ kind: Kind) { self.kind = kind }

    /// Purges the rows and the token.
    func forget() { (rows, token) = ([:], nil) }

    /// Why a sync did not finish.
    struct Failure: Error { var text: String }

    /// Pulls the changes since the last sync.
    ///
    /// 1. Request the rows from the token on, oldest change first, deleted ones included.
    /// 2. Store the page.
    /// 3. With `ge`: after a page that advances the token, continue from the new token; otherwise continue
    ///    with `$skip`. An empty page is the end.
    /// 4. With `gt`: follow the next links; the token advances at the end.
    @available(*, noasync)
    func sync(_ store: Store, _ table: TableName) throws {
        var (skip, latest, link) = (0, token, String?.none)
        for _ in 0..<200 {
            let page = try self.page(store, table, link ?? text(skip: skip))
            for item in page.items {
                rows[item.id.text] = item.deleted ? nil : item
                latest = max(latest ?? item.updatedAt, item.updatedAt)
            }
            if kind == .datasync {
                link = try next(page, link ?? text(skip: 0), table)
                if link != nil { continue }
                token = latest
                return
            }
            if page.items.isEmpty { return }
            if latest == token {
                skip += page.items.count
            } else {
                (token, skip) = (latest, 0)
            }
        }
        throw Failure(text: "\(kind) pulls in circles")
    }

    /// The query of the answer's next link; nil on the last page.
    private func next(_ page: ItemPage, _ text: String, _ table: TableName) throws -> String? {
        let request = Request(
            head: HTTPRequest(
                method: .get, scheme: "http", authority: "proxy", path: "/tables/\(table)?\(text)",
                headerFields: [.userAgent: "Datasync/6.0"]))
        let call = try TableCall.parse(request, defaultGeneration: kind.generation)
        let answer = TablesAnswer(to: call).render(page: page)
        return try JSONValue(parsing: answer.bytes ?? [])["nextLink"]?.string
    }

    private func page(_ store: Store, _ table: TableName, _ text: String) throws -> ItemPage {
        let query = try TableQuery.parse(
            try QueryParameter.split(text[...]), generation: kind.generation)
        switch store.list(
            store.find(table, worker: 0), query, generation: kind.generation,
            pageRows: Self.pageRows)
        {
        case .page(let page), .partial(let page): return page
        case .unknownTable, .beyondPart: return ItemPage(items: [])
        case .invalid, .overBudget, .failed: throw Failure(text: "\(kind) was refused")
        }
    }

    private func text(skip: Int) -> String {
        let since = token?.text
        let pairs: [String?]
        switch kind {
        case .first, .second:
            let name = kind == .first ? "__updatedAt" : "updatedAt"
            let start = since ?? "1970-01-01T00:00:00.000Z"
            let offset = start.replacing("Z", with: "%2B00:00")
            pairs = [
                "$filter=(\(name) ge datetimeoffset'\(offset)')", "$orderby=\(name)",
                "$skip=\(skip)", "$top=\(Self.pageRows)", "__includeDeleted=true",
                kind == .first ? "__systemproperties=__updatedAt,__version,__deleted" : nil,
            ]
        case .script:
            let start = since ?? "1969-12-30T23:00:00.000Z"
            pairs = [
                "$filter=(updatedAt ge datetimeoffset'\(start)')", "$orderby=updatedAt",
                "$top=\(Self.pageRows)", skip > 0 ? "$skip=\(skip)" : nil, "__includeDeleted=true",
            ]
        case .datasync:
            pairs = [
                since.map { "$filter=(updatedAt gt cast(\($0),Edm.DateTimeOffset))" },
                "$orderby=updatedAt", "$count=true", "__includedeleted=true",
            ]
        }
        return pairs.compactMap(\.self).joined(separator: "&")
            .replacing(" ", with: "%20")
    }
}
