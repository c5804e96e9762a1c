package import HTTPMessage
package import HTTPTypes

/// The form in which a server writes its answers on `/tables`: the one renderer, with what servers of one
/// generation do differently as its properties. Every answer is complete, so that the HTTP server sends
/// `Content-Length`, which the managed SDKs require.
package struct AnswerForm: Sendable {
    /// The body of an error.
    package enum ErrorBody: Sendable {
        /// `{"error":…}`
        case error
        /// `{"code":…,"error":"Error: …"}`
        case codeAndError
        /// `{"message":…}`
        case message
        /// A problem of RFC 9457.
        case problem
        /// None.
        case empty
    }

    /// The header fields of an answer with JSON.
    package var fields: HTTPFields
    /// The header fields of an answer without a body.
    package var bodilessFields: HTTPFields
    package var errors: ErrorBody
    /// Whether a list is `{"items","count","nextLink"}`. Otherwise it is an array, or `{"results","count"}` if
    /// the count was requested, with a `Link` field.
    package var hasItemsEnvelope: Bool
    /// Whether an answer with one item has `Last-Modified`.
    package var hasLastModified: Bool

    package func json(_ status: HTTPResponse.Status, _ bytes: [UInt8]) -> Response {
        Response(status: status, headerFields: fields, body: bytes)
    }

    package func empty(_ status: HTTPResponse.Status) -> Response {
        Response(status: status, headerFields: bodilessFields)
    }

    /// An answer with one item.
    /// - Parameter tagged: whether it has the item's version as its `ETag`.
    package func item(
        _ item: Item, _ status: HTTPResponse.Status, _ writer: ItemWriter, tagged: Bool
    ) -> Response {
        var bytes: [UInt8] = []
        writer.write(item, to: &bytes)
        var response = json(status, bytes)
        addValidators(of: item, to: &response, tagged: tagged)
        return response
    }

    /// An answer without a body that names the item's version.
    package func validators(
        of item: Item, _ status: HTTPResponse.Status, tagged: Bool
    ) -> Response {
        var response = empty(status)
        addValidators(of: item, to: &response, tagged: tagged)
        return response
    }

    package func addValidators(of item: Item, to response: inout Response, tagged: Bool) {
        if tagged { response.head.headerFields[.eTag] = ETag.quote(item.version) }
        if hasLastModified { response.head.headerFields[.lastModified] = item.updatedAt.httpDate }
    }

    /// A list.
    /// - Parameters:
    ///   - count: the number of all matching items; nil if it was not requested.
    ///   - next: where the next page is: the `nextLink`, or the value of the `Link` field; nil for the last page.
    package func list(
        _ items: [Item], count: Int?, next: String?, _ writer: ItemWriter
    ) -> Response {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Limits.reservedItemBytes * items.count + 64)
        if hasItemsEnvelope {
            bytes += "{\"items\":".utf8
        } else if count != nil {
            bytes += "{\"results\":".utf8
        }
        bytes.append(UInt8(ascii: "["))
        for (place, item) in items.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            writer.write(item, to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
        if hasItemsEnvelope {
            bytes += ",\"count\":\(count.map(String.init) ?? "null"),\"nextLink\":".utf8
            if let next { bytes.appendJSONString(next) } else { bytes += "null".utf8 }
            bytes.append(UInt8(ascii: "}"))
            return json(.ok, bytes)
        }
        if let count { bytes += ",\"count\":\(count)}".utf8 }
        var response = json(.ok, bytes)
        response.head.headerFields[.link] = next
        return response
    }

    package func error(_ status: HTTPResponse.Status, _ sentence: String) -> Response {
        var bytes: [UInt8] = []
        switch errors {
        case .error: bytes += "{\"error\":".utf8
        case .codeAndError: bytes += "{\"code\":\(status.code),\"error\":".utf8
        case .message: bytes += "{\"message\":".utf8
        case .problem:
            bytes += "{\"title\":".utf8
            bytes.appendJSONString(status.reasonPhrase)
            bytes += ",\"status\":\(status.code),\"detail\":".utf8
        case .empty: return empty(status)
        }
        bytes.appendJSONString(errors == .codeAndError ? "Error: " + sentence : sentence)
        bytes.append(UInt8(ascii: "}"))
        var response = json(status, bytes)
        if errors == .problem {
            response.head.headerFields[.contentType] = "application/problem+json; charset=utf-8"
        }
        return response
    }
}

// Understudy's own form.
extension AnswerForm {
    /// The form of Understudy's answers to clients of a generation.
    package static func understudy(_ generation: Generation) -> AnswerForm {
        switch generation {
        case .mobileServices: mobileServices
        case .mobileApps: mobileApps
        case .datasync: datasync
        }
    }

    private init(_ generation: Generation, _ fields: HTTPFields) {
        var bodiless = fields
        bodiless[.contentType] = nil
        self.init(
            fields: fields, bodilessFields: bodiless,
            errors: generation == .mobileServices ? .codeAndError : .error,
            hasItemsEnvelope: generation == .datasync, hasLastModified: generation == .datasync)
    }

    private static let mobileServices: AnswerForm = {
        var fields: HTTPFields = [.contentType: "application/json", .cacheControl: "no-cache"]
        fields[.serverVersion] = "understudy"
        return AnswerForm(.mobileServices, fields)
    }()

    private static let mobileApps: AnswerForm = {
        var fields = datasync.fields
        fields[.expires] = "0"
        fields[.pragma] = "no-cache"
        fields[.serverVersion] = "understudy"
        return AnswerForm(.mobileApps, fields)
    }()

    private static let datasync = AnswerForm(
        .datasync,
        [.contentType: "application/json; charset=utf-8", .cacheControl: "no-cache"])
}
