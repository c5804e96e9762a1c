import GRDB
import HTTPMessage
import HTTPTypes
import TablesProtocol

extension TablesBackend {
    /// Serves a request without any fault: one transaction, then the answer in the flavour's words.
    /// What is refused is rolled back, and everything is when it is not to be kept.
    func serve(_ call: Call, keeping: Bool = true) -> Response {
        var response =
            call.method == .options
            ? preflight(call)
            : loginAnswer(call) ?? customRefusal(call) ?? customAnswer(call)
                ?? answer(call, keeping: keeping)
        CrossOrigin.add(to: &response, call, profile)
        return response
    }

    /// The methods of a path. Where only listed tables exist, no other path has any.
    private func preflight(_ call: Call) -> Response {
        let answerer = answerer(call, nil)
        guard profile.isNode else { return answerer.preflight() }
        switch call.route {
        case .table(let name) where isThere(name): return answerer.preflight()
        case .item(let name, _) where isThere(name): return answerer.preflight()
        case .table, .item, .faults, .effects, .other:
            return answerer.refused(.noRoute(call, profile))
        }
    }

    private func isThere(_ name: TableName) -> Bool {
        options.dynamicTable != nil || options.tables[name] != nil
    }

    private func answer(_ call: Call, keeping: Bool) -> Response {
        if let refusal = refusal(call) { return answerer(call, nil).refused(refusal) }
        do {
            return try database.writeWithoutTransaction { database in
                var response = answerer(call, nil).refused(Refusal(500, "No outcome"))
                try database.inTransaction {
                    let outcome = try exchange(database, call).outcome()
                    response = try answerer(call, table(database, call)).response(outcome)
                    if case .refused = outcome { return .rollback }
                    return keeping ? .commit : .rollback
                }
                return response
            }
        } catch {
            return answerer(call, nil).refused(Refusal(500, "\(error)"))
        }
    }

    /// A request on a table within an open transaction.
    func exchange(_ database: Database, _ call: Call) -> Exchange {
        Exchange(
            database: database, call: call, profile: profile, options: options, now: clock(),
            random: random)
    }

    private func table(_ database: Database, _ call: Call) throws -> TableRecord? {
        switch call.route {
        case .table(let name), .item(let name, _): try Tables.find(database, name)
        case .faults, .effects, .other: nil
        }
    }

    /// What puts an outcome on a table into words.
    func answerer(_ call: Call, _ table: TableRecord?) -> Answerer {
        Answerer(call: call, profile: profile, options: options, table: table)
    }

    /// What the server refuses before it looks at the table.
    private func refusal(_ call: Call) -> Refusal? {
        if profile.isNode, let refusal = tokenRefusal(call) { return refusal }
        if call.isUnderTables, let refusal = versionRefusal(call) { return refusal }
        switch call.route {
        case .table, .item: break
        case .faults, .effects, .other: return .noRoute(call, profile)
        }
        // The first generation's server looks at the query and the table before.
        if profile.generation == .mobileServices { return nil }
        if let key = options.applicationKey, call.field("X-ZUMO-APPLICATION") != key {
            return Refusal(401, "Unauthorized")
        }
        return tokenRefusal(call)
    }

    private func tokenRefusal(_ call: Call) -> Refusal? {
        guard let token = call.token(profile.generation), !isGood(token) else { return nil }
        return profile.isNode
            ? Refusal(401, #"{"name":"JsonWebTokenError"}"#, as: .json)
            : Refusal(401, "Unauthorized")
    }

    /// The first generation looks at the version of custom APIs too.
    private func customRefusal(_ call: Call) -> Response? {
        guard call.request.path.hasPrefix("/api/"), profile.apiVersion == .absent else {
            return nil
        }
        return versionRefusal(call).map { answerer(call, nil).refused($0) }
    }

    private func isGood(_ token: String) -> Bool {
        switch options.tokens {
        case .any: true
        case .only(let tokens): tokens.contains(token)
        case .issued: (try? user(of: token)) != nil
        }
    }

    private func versionRefusal(_ call: Call) -> Refusal? {
        let version = call.apiVersion
        switch profile.apiVersion {
        case .free: return nil
        case .absent where version != nil:
            return Refusal(
                400,
                "This version (1.0.0) of the server does not support the use of the"
                    + " zumo-api-version in the request.  For more information and supported"
                    + " clients see: http://go.microsoft.com/fwlink/?LinkID=690568#1.0.0",
                as: .bare)
        case .absent: return nil
        case .second where version?.wholeMatch(of: /2\.0\.\d+/) != nil: return nil
        case .second:
            return Refusal(
                400,
                "An invalid API version was specified in the request, this request needs to"
                    + " specify a ZUMO-API-VERSION of 2.0.0.")
        case .secondOrThird:
            let isGood = version.map { $0.hasPrefix("2.0") || $0.hasPrefix("3.0") } ?? false
            return isGood ? nil : Refusal(400, "Missing or invalid ZUMO-API-VERSION")
        }
    }
}
