import HTTPTypes

/// Gives answers on `/tables` in the form that the caller's SDK reads: complete responses whose
/// body the server sends with `Content-Length`, as the managed SDKs demand.
public struct TablesAnswer: Sendable {
    /// The SDK that is answered.
    public let client: ClientFamily
    let call: TableCall?
    let writer: ItemWriter

    /// Answers a call that was understood.
    public init(to call: TableCall) {
        self.call = call
        client = call.client
        writer = ItemWriter(
            generation: call.generation, properties: call.systemProperties,
            select: call.verb.select)
    }

    /// Answers a request that was not understood, so only with errors.
    public init(client: ClientFamily) {
        self.client = client
        call = nil
        writer = ItemWriter(generation: client.generation, properties: [])
    }

    var generation: Generation { client.generation }

    /// The header fields of every answer: type of the body, server, no caching. Never an ETag, which
    /// SDKs take for the item's version, but on single items.
    var baseFields: HTTPFields {
        var fields: HTTPFields = [:]
        switch generation {
        case .mobileServices: fields[.contentType] = "application/json"
        case .mobileApps, .datasync: fields[.contentType] = "application/json; charset=utf-8"
        }
        fields[.cacheControl] = "no-cache"
        switch generation {
        case .mobileServices: fields[.serverVersion] = "understudy"
        case .mobileApps:
            fields[.serverVersion] = "understudy"
            fields[.expires] = "0"
            fields[.pragma] = "no-cache"
        case .datasync: break
        }
        return fields
    }
}
