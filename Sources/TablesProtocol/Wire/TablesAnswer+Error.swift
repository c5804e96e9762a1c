public import HTTPMessage
import HTTPTypes

extension TablesAnswer {
    /// Answers with an error in the caller's form: `{"code","error"}` in the first generation,
    /// `{"error"}` in the others; for a write against another version or an id that is taken, the
    /// item as it is.
    public func render(error: TablesError) -> Response {
        let status = error.status(in: generation)
        if let item = error.item(shownTo: generation) {
            return render(conflicting: item, status: status)
        }
        var fields = baseFields
        if let seconds = error.retryAfterSeconds { fields[.retryAfter] = String(seconds) }
        if case .methodNotAllowed(let methods) = error {
            fields[.allow] = methods.joined(separator: ", ")
        }
        // The Community Toolkit takes any body of a 409 for the server's item.
        if case .conflict = error, client == .toolkit {
            return Response(status: status, headerFields: bodilessFields)
        }
        var bytes: [UInt8] = []
        let sentence = error.sentence(in: generation)
        switch generation {
        case .mobileServices:
            bytes += "{\"code\":\(status.code),\"error\":".utf8
            bytes.appendJSONString("Error: " + sentence)
        case .mobileApps, .datasync:
            bytes += "{\"error\":".utf8
            bytes.appendJSONString(sentence)
        }
        bytes.append(UInt8(ascii: "}"))
        return Response(status: status, headerFields: fields, body: bytes)
    }
}
