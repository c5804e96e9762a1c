import HTTPMessage
import HTTPTypes
import TablesProtocol

// The order in which the first generation's server looks at a request (`request/requesthandler.js`,
// `request/tablehandler.js`), and what it says.
extension Exchange {
    /// Refuses what does not come as far as the operation.
    func checkFirst() throws {
        try checkSyntax()
        try checkParameters()
        switch call.route {
        case .table(let name):
            try checkFirst(name, allowed: [.get, .head, .post, .patch], names: "GET, POST")
            try checkOptions(onItem: false)
            if try found(name)?.options.idKind != .integer { try checkBodyID() }
        case .item(let name, let id):
            let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .patch, .delete]
            try checkFirst(name, allowed: methods, names: itemMethods)
            try checkOptions(onItem: true)
            try checkID(id, try found(name)?.options ?? TableOptions())
        case .faults, .effects, .other: break
        }
    }

    private func checkFirst(
        _ name: TableName, allowed: Set<HTTPRequest.Method>, names: String
    ) throws {
        let table = try found(name)
        if table == nil, options.dynamicTable == nil { throw noTable(name) }
        guard allowed.contains(call.method) else { throw notAllowed(allowed: names) }
        let token = call.token(profile.generation)
        if let token, let sentence = try refusal(of: token) { throw Refusal(401, sentence) }
        // No operation belongs to HEAD, so it is the administrator's; a script is left out by none else.
        let isForAdministrators =
            call.method == .head || call.parameter(anyCase: "noScript")?.isEmpty == false
        let isAllowed =
            table?.options.needsSignIn == true
            ? token != nil
            : options.applicationKey.map { $0 == call.field("X-ZUMO-APPLICATION") } ?? true
        if isForAdministrators || !isAllowed { throw Refusal(401, "Unauthorized") }
    }

    private func refusal(of token: String) throws -> String? {
        let isGood =
            switch options.tokens {
            case .any: true
            case .only(let tokens): tokens.contains(token)
            case .issued: try Logins.user(database, token: token) != nil
            }
        if isGood { return nil }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else {
            return "Invalid token format. Expected Envelope.Claims.Signature."
        }
        for (part, name) in zip(parts, ["Envelope", "Claims", "Signature"]) where part.isEmpty {
            return "Invalid token format. \(name) must not be empty."
        }
        return "The authentication token has an invalid signature."
    }

    /// The JSON of a body is read before anything else is looked at.
    private func checkSyntax() throws(Refusal) {
        guard hasJSON, let first = call.request.body.first(where: { !" \t\r\n".utf8.contains($0) })
        else { return }
        guard "{[".utf8.contains(first) else { throw Refusal(400, "invalid json") }
        do {
            _ = try JSONValue(parsing: call.request.body)
        } catch {
            let text = JSONText.string("SyntaxError: \(error)").text
            throw Refusal(400, "{\"code\":400,\"error\":\(text)}", as: .json)
        }
    }

    /// Whether there is a body that is read as JSON. A body of another type is a text.
    private var hasJSON: Bool {
        let isRead = call.method != .get && call.method != .delete
        let type = call.field(.contentType)?.prefix { $0 != ";" }.lowercased() ?? ""
        return isRead && !call.request.body.isEmpty
            && (type.isEmpty || type.filter { $0 != " " } == "application/json")
    }

    /// The object of a write; anything else than one object is refused.
    func firstObject() throws(Refusal) -> Columns {
        guard hasJSON, let object = try? Columns(parsing: call.request.body) else {
            throw Refusal(400, "A single (valid) JSON object is expected.")
        }
        return object
    }

    private func checkID(_ id: String, _ table: TableOptions) throws(Refusal) {
        if table.idKind == .integer {
            if ScriptNumber.whole(id) == nil {
                throw Refusal(400, "The value specified for 'id' must be a number.")
            }
            return
        }
        guard (try? ItemID(id)) != nil else { throw invalidID }
        try checkBodyID()
    }

    private func checkBodyID() throws(Refusal) {
        guard hasJSON, let id = (try? Columns(parsing: call.request.body))?["id"]?.value else {
            return
        }
        switch id {
        case .null: break
        case .string(let text): if !text.isEmpty, (try? ItemID(text)) == nil { throw invalidID }
        case .bool, .number, .array, .object:
            throw Refusal(400, "The value specified for property 'id' must be a string")
        }
    }

    var invalidID: Refusal {
        Refusal(
            400,
            "The value specified for property 'id' is invalid. An id must not contain any"
                + " control characters or the characters \",+,?,\\,`.")
    }

    /// The version in `If-Match`; nil where any will do, and for tables without versions.
    func firstCondition(_ table: TableOptions) throws(Refusal) -> String? {
        guard table.idKind == .string, let field = call.field(.ifMatch), !field.isEmpty,
            field.filter({ $0 != " " }) != "*"
        else { return nil }
        var versions: [String] = []
        for part in field.split(separator: ",", omittingEmptySubsequences: false) {
            guard let version = (try? JSONValue(parsing: String(part)))?.string else {
                throw Refusal(400, "Invalid 'if-match' header.")
            }
            versions.append(version)
        }
        guard versions.count == 1 else {
            throw Refusal(400, "Only single etag 'if-match' headers are supported.")
        }
        return versions[0]
    }

    /// The refusal of a body whose id is not that of the path; null and an empty one are not.
    func firstIDMismatch(_ sent: Sent, _ id: String) -> Refusal? {
        guard let other = sent.all["id"]?.value else { return nil }
        let text = other.string ?? (sent.id ?? "")
        return text == id
            ? nil
            : Refusal(
                400, "When specified in the body, 'id' must match the id specified in the url.")
    }
}
