import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

/// Answers requests on tables, in the flavour's words.
struct TableService: Sendable {
    let rules: BackendRules
    let storage: any RowStorage
    let clock: @Sendable () -> Instant
    let random: SharedRandom
    let outage: StorageOutage
    let failures: FailureReports
    let access: AccessControl
    let changes: ChangeRoutes

    private var options: BackendOptions { rules.options }
    private var profile: Profile { rules.profile }

    /// Serves a request without any fault, in the flavour's words. What is not to be kept is answered as if
    /// it were.
    func serve(_ call: Call, keeping: Bool = true) -> Response {
        do throws(TooMuchWork) {
            return rules.readable(
                call.method == .options ? preflight(call) : try answer(call, keeping: keeping), call
            )
        } catch {
            return rules.readable(rules.refused(call, error.refusal), call)
        }
    }

    /// Serves the read of a list if that takes little time; nil if it takes more.
    func serveBriefly(_ call: Call) -> Response? {
        var call = call
        call.listTime = .brief
        return (try? answer(call, keeping: true)).map { rules.readable($0, call) }
    }

    private func logins(_ call: Call) throws -> Response? {
        rules.verifiesTokens
            ? VerifiedLogins(rules: rules, access: access, clock: clock, random: random).answer(
                call)
            : try IssuedLogins(rules: rules, storage: storage, random: random).answer(call)
    }

    /// The methods of a path. Where only listed tables exist, no other path has any.
    private func preflight(_ call: Call) -> Response {
        let answerer = rules.answerer(call)
        guard profile.isNode else { return answerer.preflight() }
        switch call.route {
        case .table(let name) where isListed(name): return answerer.preflight()
        case .item(let name, _) where isListed(name): return answerer.preflight()
        case .table, .item, .faults, .effects, .other:
            return answerer.refused(.noRoute(call, profile))
        }
    }

    private func isListed(_ name: TableName) -> Bool {
        options.dynamicTable != nil || options.tables[name] != nil
    }

    private func answer(_ call: Call, keeping: Bool) throws(TooMuchWork) -> Response {
        do {
            if let answer = try logins(call) ?? customRefusal(call) {
                return answer
            }
            if let refusal = try refusal(call) { return rules.refused(call, refusal) }
            if let stream = try changes.answer(call) { return stream }
            let decision = try decide(call, keeping: keeping)
            outage.ended()
            return rules.answerer(call, decision.table).response(decision.outcome)
        } catch let problem as TooMuchWork {
            throw problem
        } catch let problem as StorageUnavailable {
            outage.began(problem.reason)
            return rules.answerer(call).unavailable()
        } catch {
            failures.report("\(error)")
            return rules.refused(call, .failed)
        }
    }

    /// The outcome of a request, with its table as it is afterwards.
    struct Decision: Sendable {
        var outcome: Outcome
        var table: StoredTable?
    }

    /// Does what a request on a table asks for: begins anew where another writer was faster.
    func decide(_ call: Call, keeping: Bool = true) throws -> Decision {
        for _ in 0..<Limits.attemptsOfWrite {
            let request = TableRequest(
                storage: storage, call: call, profile: profile, options: options, now: clock(),
                random: random, isKept: keeping, known: try table(call))
            let outcome = try request.outcome()
            switch outcome {
            case .overtaken: continue
            case .inserted(_, _, let table), .changed(_, _, let table):
                return Decision(outcome: outcome, table: table)
            case .list, .found, .notModified, .unchanged, .deleted, .deletedAll, .undeleted,
                .exists,
                .preconditionFailed, .versionConflict, .missing, .gone, .refused:
                return Decision(outcome: outcome, table: request.known)
            }
        }
        return Decision(outcome: .refused(.tooManyWriters), table: nil)
    }

    private func table(_ call: Call) throws -> StoredTable? {
        switch call.route {
        case .table(let name), .item(let name, _): try storage.table(name)
        case .faults, .effects, .other: nil
        }
    }

    /// The server's refusal before it looks at the table; nil when it refuses nothing.
    private func refusal(_ call: Call) throws -> Refusal? {
        if profile.isNode, let refusal = try tokenRefusal(call) { return refusal }
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
        return try tokenRefusal(call)
    }

    private func tokenRefusal(_ call: Call) throws -> Refusal? {
        guard let token = call.token(profile.generation),
            try !options.tokens.accept(token, storage)
        else { return nil }
        return .badToken(profile)
    }

    /// The first generation looks at the version of custom APIs too.
    private func customRefusal(_ call: Call) -> Response? {
        guard call.request.path.hasPrefix("/api/"), profile.apiVersion == .absent else {
            return nil
        }
        return versionRefusal(call).map { rules.refused(call, $0) }
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

/// Receives the texts of errors that are answered with ``Refusal/failed``.
final class FailureReports: Sendable {
    private let receiver = Mutex<TablesBackend.FailureReport?>(nil)

    var onFailure: TablesBackend.FailureReport? {
        get { receiver.withLock { $0 } }
        set { receiver.withLock { $0 = newValue } }
    }

    func report(_ text: String) { onFailure?(text) }
}
