import HTTPTypes

/// Gives answers on `/tables` in the form that the caller's SDK reads: complete responses whose
/// body the server sends with `Content-Length`, as the managed SDKs demand.
public struct TablesAnswer: Sendable {
    /// The SDK that is answered.
    public let client: ClientFamily
    let call: TableCall?
    private(set) var writer: ItemWriter

    /// Answers a call that was understood.
    public init(to call: TableCall) {
        self.call = call
        client = call.client
        writer = ItemWriter(
            generation: call.generation, properties: call.systemProperties,
            select: call.verb.select)
    }

    /// Answers a call of the same client, as another one with the same select and system properties
    /// was.
    public init(to call: TableCall, like other: TablesAnswer) {
        self.call = call
        client = other.client
        writer = other.writer
    }

    /// Answers a request that was not understood, so only with errors.
    public init(client: ClientFamily) {
        self.client = client
        call = nil
        writer = ItemWriter(generation: client.generation, properties: [])
    }

    /// The same answer with all of `columns` in each whole item: null where a row was written before the
    /// column came, as the servers in JavaScript answer. To a write the first generation answers with
    /// what was written. The third generation's rows show what they have: its clients may have no place
    /// for a null.
    public func showing(_ columns: TableColumns?) -> TablesAnswer {
        switch (generation, call?.verb) {
        case (.datasync, _), (.mobileServices, .insert?), (.mobileServices, .update?),
            (.mobileServices, .replace?), (.mobileServices, .delete?),
            (.mobileServices, .undelete?):
            return self
        case (.mobileServices, .list?), (.mobileServices, .get?), (.mobileServices, nil),
            (.mobileApps, _):
            break
        }
        var answer = self
        answer.writer.columns = columns
        return answer
    }

    var generation: Generation { client.generation }

    /// The header fields of every answer with a body: its type, the server, no caching. Never an
    /// ETag, which SDKs take for the item's version, but on single items.
    var baseFields: HTTPFields {
        switch generation {
        case .mobileServices: Self.mobileServicesFields
        case .mobileApps: Self.mobileAppsFields
        case .datasync: Self.datasyncFields
        }
    }

    /// The header fields of an answer without a body.
    var bodilessFields: HTTPFields {
        var fields = baseFields
        fields[.contentType] = nil
        return fields
    }

    private static let mobileServicesFields: HTTPFields = {
        var fields: HTTPFields = [.contentType: "application/json", .cacheControl: "no-cache"]
        fields[.serverVersion] = "understudy"
        return fields
    }()

    private static let mobileAppsFields: HTTPFields = {
        var fields = datasyncFields
        fields[.expires] = "0"
        fields[.pragma] = "no-cache"
        fields[.serverVersion] = "understudy"
        return fields
    }()

    private static let datasyncFields: HTTPFields = [
        .contentType: "application/json; charset=utf-8", .cacheControl: "no-cache",
    ]
}
