import HTTPMessage
import HTTPTypes
import Synchronization
package import TablesProtocol

extension TablesBackend {
    /// Receives the text of each error that is answered with ``Refusal/failed``. The text may name hosts or
    /// hold what is stored: it is for the operator alone. Nil drops it.
    public var onFailure: FailureReport? {
        get { failureReport.withLock { $0 } }
        set { failureReport.withLock { $0 = newValue } }
    }

    /// Serves a request without any fault, in the flavour's words. What is not to be kept is answered as if
    /// it were.
    func serve(_ call: Call, keeping: Bool = true) -> Response {
        var response: Response
        do throws(TooMuchWork) {
            response =
                call.method == .options ? preflight(call) : try answer(call, keeping: keeping)
        } catch {
            response = answerer(call, nil).refused(error.refusal)
        }
        CrossOrigin.add(to: &response, call, profile)
        return response
    }

    /// Serves the read of a list if that takes little time; nil if it takes more.
    func serveBriefly(_ call: Call) -> Response? {
        var call = call
        call.listTime = .brief
        guard var response = try? answer(call, keeping: true) else { return nil }
        CrossOrigin.add(to: &response, call, profile)
        return response
    }

    /// The answer to a request that waited too long for the storage, or found its queue full.
    func unavailable(_ call: Call) -> Response {
        var response = answerer(call, nil).unavailable()
        CrossOrigin.add(to: &response, call, profile)
        return response
    }

    /// The answer to a request that the budget refuses; nil for all others. A preflight and the backend's own
    /// paths need no permit.
    func budgetRefusal(_ call: Call) -> Response? {
        guard options.requestsPerSecond != nil, needsPermit(call) else { return nil }
        let now = clock()
        let decision = control.withLock { $0.budget?.decide(now: now) }
        guard case .refused(let seconds) = decision else { return nil }
        return busy(call, "The backend is busy. Try again later.", seconds)
    }

    /// Whether limits of requests count a request.
    func needsPermit(_ call: Call) -> Bool {
        call.method != .options && !call.isControl && Health(call) == nil
    }

    /// The answer 429 to a request that came too soon.
    func busy(_ call: Call, _ message: String, _ retryAfterSeconds: Int) -> Response {
        var refusal = Refusal(429, message)
        refusal.retryAfterSeconds = retryAfterSeconds
        var response = answerer(call, nil).refused(refusal)
        CrossOrigin.add(to: &response, call, profile)
        return response
    }

    /// Receives what the operator should know of the storage: it cannot answer, or it answers again. Nil
    /// drops it.
    public var onStorageNews: (@Sendable (StorageNews) -> Void)? {
        get { outage.report }
        set { outage.report = newValue }
    }

    private func logins(_ call: Call) throws -> Response? {
        verifiesTokens ? verifiedLoginAnswer(call) : try loginAnswer(call)
    }

    /// The methods of a path. Where only listed tables exist, no other path has any.
    private func preflight(_ call: Call) -> Response {
        let answerer = answerer(call, nil)
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
            if let refusal = try refusal(call) { return answerer(call, nil).refused(refusal) }
            if let stream = try changesAnswer(call) { return stream }
            let decision = try decide(call, keeping: keeping)
            outage.ended()
            return answerer(call, decision.table).response(decision.outcome)
        } catch let problem as TooMuchWork {
            throw problem
        } catch let problem as StorageUnavailable {
            outage.began(problem.reason)
            return answerer(call, nil).unavailable()
        } catch {
            onFailure?("\(error)")
            return answerer(call, nil).refused(.failed)
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

    /// Makes the writer of the response to a request on a table.
    func answerer(_ call: Call, _ table: StoredTable?) -> Answerer {
        Answerer(call: call, profile: profile, options: options, table: table)
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
        guard let token = call.token(profile.generation), try !isGood(token) else { return nil }
        return .badToken(profile)
    }

    /// The first generation looks at the version of custom APIs too.
    private func customRefusal(_ call: Call) -> Response? {
        guard call.request.path.hasPrefix("/api/"), profile.apiVersion == .absent else {
            return nil
        }
        return versionRefusal(call).map { answerer(call, nil).refused($0) }
    }

    private func isGood(_ token: String) throws -> Bool {
        switch options.tokens {
        case .any: true
        // Tokens that are not accepted were refused before.
        case .verified: true
        case .only(let tokens): tokens.contains(token)
        case .issued: try storage.user(ofToken: token) != nil
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

/// Limits the requests that a backend takes in a second: a token bucket. It refuses a request before
/// that costs anything, and says when to return, so that clients that were away together do not all
/// return at once.
///
/// 1. Permits come at the rate. Unused ones are kept, at most those of ``Limits/budgetBurstMilliseconds``.
/// 2. A request takes one permit.
/// 3. A request without a permit is refused, and gets the next place in a line. Places are due one after the
///    other, at ``Limits/returnShare`` of the rate, because a client that returns sends several requests.
package struct RequestBudget: Sendable {
    /// The answer to a request.
    package enum Decision: Sendable, Hashable {
        case accepted
        /// 429, with these seconds as `Retry-After`, 1 or more.
        case refused(retryAfterSeconds: Int)
    }

    private let perMillisecond: Double
    private var permits: PermitBucket
    /// The time at which the last place in the line is due, in milliseconds.
    private var lastPlace = 0.0

    /// A budget of this many requests a second, with the permits of a whole burst.
    package init(requestsPerSecond: Int) {
        perMillisecond = Double(max(requestsPerSecond, 1)) / 1000
        permits = PermitBucket(
            perSecond: requestsPerSecond, burstMilliseconds: Limits.budgetBurstMilliseconds)
    }

    /// Decides about one request. A clock that was set back gives no permits, and no client waits longer
    /// than ``Limits/budgetWaitSeconds`` because of it.
    package mutating func decide(now: Instant) -> Decision {
        if permits.take(now: now) { return .accepted }
        let wall = Double(now.milliseconds)
        let longest = wall + Double(Limits.budgetWaitSeconds) * 1000
        lastPlace = min(max(lastPlace, wall) + 1 / (perMillisecond * Limits.returnShare), longest)
        let seconds = ((lastPlace - wall) / 1000).rounded(.up)
        return .refused(retryAfterSeconds: max(Int(seconds), 1))
    }
}

/// Permits that come at a rate; unused ones are kept, up to a bound.
struct PermitBucket: Sendable {
    private let perMillisecond: Double
    private let most: Double
    private var permits: Double
    private var last: Instant?

    /// A full bucket, which keeps the permits of so many milliseconds, and one at least.
    init(perSecond: Int, burstMilliseconds: Double) {
        perMillisecond = Double(max(perSecond, 1)) / 1000
        most = max(perMillisecond * burstMilliseconds, 1)
        permits = most
    }

    /// Takes a permit.
    /// - Returns: false where there is none. A clock that was set back gives none.
    mutating func take(now: Instant) -> Bool {
        let elapsed = last.map { Double(max(now.milliseconds - $0.milliseconds, 0)) } ?? 0
        last = now
        permits = min(most, permits + elapsed * perMillisecond)
        guard permits >= 1 else { return false }
        permits -= 1
        return true
    }
}
