import HTTPMessage
import HTTPTypes
import TablesProtocol

/// The order in which the first generation's server looks at a request (`request/requesthandler.js`,
/// `request/tablehandler.js`), and what it says.
struct FirstGenerationChecks {
    let request: TableRequest

    private var call: Call { request.call }
    private var options: BackendOptions { request.options }
    private var profile: Profile { request.profile }

    /// Refuses what does not come as far as the operation.
    func check() throws {
        try checkSyntax()
        try checkParameters()
        switch call.route {
        case .table(let name):
            try check(name, allowed: [.get, .head, .post, .patch], names: "GET, POST")
            try checkOptions(onItem: false)
            if request.found(name)?.options.idKind != .integer { try checkBodyID() }
        case .item(let name, let id):
            let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .patch, .delete]
            try check(name, allowed: methods, names: request.itemMethods)
            try checkOptions(onItem: true)
            try checkID(id, request.found(name)?.options ?? TableOptions())
        case .faults, .effects, .other: break
        }
    }

    private func check(
        _ name: TableName, allowed: Set<HTTPRequest.Method>, names: String
    ) throws {
        let table = request.found(name)
        if table == nil, options.dynamicTable == nil { throw request.noTable(name) }
        guard allowed.contains(call.method) else { throw request.notAllowed(allowed: names) }
        let token = call.token(profile.generation)
        if let token, let sentence = try refusal(of: token) { throw Refusal(401, sentence) }
        // No operation belongs to HEAD, so it is the administrator's; a script is left out by none else.
        let isForAdministrators =
            call.method == .head || call.parameter(anyCase: "noScript")?.isEmpty == false
        let isAllowed =
            table?.options.needsSignIn == true && options.tokens != .verified
            ? token != nil
            : options.applicationKey.map { $0 == call.field("X-ZUMO-APPLICATION") } ?? true
        if isForAdministrators || !isAllowed { throw Refusal(401, "Unauthorized") }
    }

    private func refusal(of token: String) throws -> String? {
        if try options.tokens.accept(token, request.storage) { return nil }
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
        guard request.hasJSON else { return }
        if call.hasEncodedBody { throw Refusal.encodedBody }
        guard let first = call.request.body.first(where: { !" \t\r\n".utf8.contains($0) })
        else { return }
        guard "{[".utf8.contains(first) else { throw Refusal(400, "invalid json") }
        do {
            _ = try JSONValue(parsing: call.request.body)
        } catch {
            let text = JSONText.string("SyntaxError: \(error)").text
            throw Refusal(400, "{\"code\":400,\"error\":\(text)}", as: .json)
        }
    }

    private func checkID(_ id: String, _ table: TableOptions) throws(Refusal) {
        if table.idKind == .integer {
            if ScriptNumber.whole(id) == nil {
                throw Refusal(400, "The value specified for 'id' must be a number.")
            }
            return
        }
        guard (try? ItemID(id)) != nil else { throw request.invalidID }
        try checkBodyID()
    }

    private func checkBodyID() throws(Refusal) {
        guard request.hasJSON, let id = (try? Columns(parsing: call.request.body))?["id"]?.value
        else {
            return
        }
        switch id {
        case .null: break
        case .string(let text):
            if !text.isEmpty, (try? ItemID(text)) == nil { throw request.invalidID }
        case .bool, .number, .array, .object:
            throw Refusal(400, "The value specified for property 'id' must be a string")
        }
    }
}

// What the server makes of the names and values in a query, before it looks at the table
// (`request/request.js`): query options count only for reads, by their exact names.
extension FirstGenerationChecks {
    /// Refuses what the server does not know in a query, or cannot read.
    private func checkParameters() throws(Refusal) {
        for (index, parameter) in call.parameters.enumerated() {
            let isFirst = call.parameters[..<index].allSatisfy { $0.name != parameter.name }
            if isFirst { try check(parameter.name) }
        }
        if call.method == .get { _ = try ListQuery(call, profile) }
    }

    private func check(_ name: String) throws(Refusal) {
        let isOption = Self.queryOptions.contains(name)
        if isOption, call.method != .get { return }
        let isRepeated = call.parameters.count { $0.name == name } > 1
        switch name.lowercased() {
        case "$filter" where isOption, "$orderby" where isOption, "$select" where isOption:
            // A repeated pair is a list there, which no parser takes.
            if isRepeated { throw invalidQuery("TypeError: \(name) is given more than once") }
        case "$skip" where isOption, "$top" where isOption:
            let text = call.parameter(name) ?? ""
            if isRepeated || ScriptNumber.whole(text) == nil {
                throw Refusal(400, "The value specified for '\(name)' must be a number.")
            }
        case "$inlinecount" where isOption:
            if isRepeated || !["allpages", "none"].contains(call.parameter(name)) {
                throw Refusal(
                    400,
                    "The value specified for inlinecount must be either 'allpages' or 'none'.")
            }
        case "__systemproperties":
            if isRepeated { throw Refusal(400, "\(name) is given more than once") }
            _ = try SystemProperty.asked(call, profile)
        case "__includedeleted": break
        case _ where name.hasPrefix("$") || name.hasPrefix("__"):
            throw Refusal(
                400,
                "Invalid query parameter name '\(name)'. Custom query parameter names must not"
                    + " start with $ or __.")
        default: break
        }
    }

    private static let queryOptions: Set = [
        "$filter", "$orderby", "$top", "$skip", "$select", "$inlinecount",
    ]

    /// Refuses options that do not fit a list or one item; looked at after the caller is known.
    private func checkOptions(onItem: Bool) throws(Refusal) {
        guard call.method == .get else { return }
        let top = call.parameter("$top").flatMap(ScriptNumber.whole) ?? 0
        let skip = call.parameter("$skip").flatMap(ScriptNumber.whole) ?? 0
        if onItem {
            let isOrdered = call.parameter("$orderby")?.isEmpty == false
            let isCounted = call.parameter("$inlinecount") != nil
            if isOrdered || isCounted || skip != 0 || top != 0 {
                throw Refusal(
                    400,
                    "Query options $orderby, $inlinecount, $skip and $top cannot be applied to id"
                        + " queries.")
            }
        } else if let limit = profile.maxTop, top > limit {
            throw Refusal(400, "The value of the $top query option cannot exceed \(limit).")
        } else if top < 0 {
            throw Refusal(
                400, "The value of the $top query option must be greater or equal to 0.")
        }
        for name in call.parameter("$select")?.nonEmpty?.split(
            separator: ",", omittingEmptySubsequences: false) ?? []
        {
            let name = name.filter { $0 != " " }
            if !ColumnRules.isIdentifier(name) {
                throw invalidQuery("Error: \(ColumnRules.notIdentifier(name))")
            }
        }
    }

    private func invalidQuery(_ reason: String) -> Refusal {
        Refusal(400, "Invalid query specified. \(reason)")
    }
}

extension String {
    /// The text; nil when it is empty.
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}

// What the server looks at when a request has come as far as its operation.
extension TableRequest {
    /// Whether there is a body that is read as JSON. A body of another type is a text.
    fileprivate var hasJSON: Bool {
        let isRead = call.method != .get && call.method != .delete
        let type = call.mediaType?.name ?? ""
        return isRead && !call.request.body.isEmpty && ["", "application/json"].contains(type)
    }

    /// The object of a write; anything else than one object is refused.
    func firstObject() throws(Refusal) -> Columns {
        guard hasJSON, let object = try? Columns(parsing: call.request.body) else {
            throw Refusal(400, "A single (valid) JSON object is expected.")
        }
        return object
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
