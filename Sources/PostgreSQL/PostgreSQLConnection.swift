import CPostgreSQL
import Glibc

/// One connection by libpq. One thread at a time uses it; the pool sees to that.
///
/// Calls block their thread until the server has answered or a time-out is over.
@safe public final class PostgreSQLConnection {
    /// Owned; freed by `deinit`.
    private let handle: OpaquePointer
    /// The names of the prepared statements, by their SQL.
    private var prepared: [String: String] = [:]
    /// Numbers that its users have read and that never change while a server runs.
    public var remembered: [String: Int64] = [:]
    private let lockMilliseconds: Int
    /// Whether an answer is missing, so that nothing can be asked any more.
    private(set) var isBroken = false
    /// How long an answer is waited for, in milliseconds.
    private(set) var answerMilliseconds = PostgreSQLConnection.usualAnswerMilliseconds
    static let usualAnswerMilliseconds =
        Limits.statementMilliseconds + Limits.answerGraceMilliseconds

    /// The version of libpq that is loaded.
    public static var libraryVersion: String {
        let number = PQlibVersion()
        return "\(number / 10_000).\(number % 10_000)"
    }

    /// Connects to the first of the URL's hosts that is as `target_session_attrs` says.
    /// - Parameters:
    ///   - url: `postgresql://…` as libpq reads it, with several hosts and `target_session_attrs`, which is
    ///     `read-write` where it is not named.
    ///   - schema: the schema whose tables statements name.
    ///   - lockMilliseconds: how long a statement may wait for a lock.
    init(_ url: String, schema: String, lockMilliseconds: Int) throws(PostgreSQLError) {
        try Self.check(url)
        self.lockMilliseconds = lockMilliseconds
        unsafe handle = try Self.connect(url)
        // A send then never waits for a server that takes nothing: `awaitResult` sends the rest, with a
        // time-out.
        guard unsafe PQsetnonblocking(handle, 1) == 0 else { throw lost() }
        let settings: KeyValuePairs = [
            "client_min_messages": "error", "search_path": Self.identifier(schema), "jit": "off",
            "statement_timeout": "\(Limits.statementMilliseconds)",
            "lock_timeout": "\(lockMilliseconds)",
            "idle_in_transaction_session_timeout": "\(Limits.idleTransactionMilliseconds)",
        ]
        let calls = (0..<settings.count).map { place in
            "set_config($\(2 * place + 1)::text, $\(2 * place + 2)::text, false)"
        }
        try run(
            "SELECT \(calls.joined(separator: ", "))",
            settings.flatMap { [.text($0.key), .text($0.value)] }, keep: false)
        try awaitStandby()
    }

    /// Connects to the first host that is as the URL asks for.
    ///
    /// Each host is tried by itself. libpq would end its search at a host that accepts a connection and closes
    /// it, as a relay does before a server that is dead.
    private static func connect(_ url: String) throws(PostgreSQLError) -> OpaquePointer {
        var problems: [String] = []
        for host in hosts(of: url) {
            // What comes before `dbname` are defaults that the URL overrides; what comes after overrides it.
            let parameters =
                [
                    ("target_session_attrs", "read-write"),
                    ("connect_timeout", "\(Limits.connectSeconds)"),
                    ("tcp_user_timeout", "\(Limits.unacknowledgedMilliseconds)"),
                    ("keepalives_idle", "\(Limits.keepaliveIdleSeconds)"),
                    ("keepalives_interval", "\(Limits.keepaliveIntervalSeconds)"),
                    ("keepalives_count", "\(Limits.keepaliveProbes)"),
                    ("application_name", "understudy"), ("dbname", url),
                    ("client_encoding", "UTF8"),
                ] + host
            let handle = unsafe withTexts(parameters.map(\.0)) { names in
                unsafe withTexts(parameters.map(\.1)) { values in
                    unsafe PQconnectdbParams(names, values, 1)
                }
            }
            guard let handle = unsafe handle else { throw .unreachable("there is no memory") }
            if unsafe PQstatus(handle) == CONNECTION_OK { return unsafe handle }
            let text = unsafe message(PQerrorMessage(handle))
            unsafe PQfinish(handle)
            let problem = withoutValue(text)
            // So begin libpq's sentences on a value of the URL; those on a server begin otherwise.
            if text.hasPrefix("invalid ") { throw .badURL(problem) }
            if !problems.contains(problem) { problems.append(problem) }
        }
        throw .unreachable(problems.joined(separator: "; "))
    }

    /// For each host of a URL the parameters that lead to it alone; none for a URL with one host, whose own are
    /// right, and for one whose lists of hosts and ports do not fit, which libpq refuses.
    private static func hosts(of url: String) -> [[(String, String)]] {
        let lists = parts(of: url).filter { ["host", "hostaddr", "port"].contains($0.0) }
            .map { name, value in
                (name, value.split(separator: ",", omittingEmptySubsequences: false))
            }
        let count = lists.map(\.1.count).max() ?? 1
        // One port holds for all hosts.
        let fits = lists.allSatisfy { name, values in
            values.count == count || name == "port" && values.count == 1
        }
        guard count > 1, fits else { return [[]] }
        return (0..<count).map { place in
            lists.map { name, values in
                (name, String(values.count == 1 ? values[0] : values[place]))
            }
        }
    }

    /// The parameters that a URL names, with their values; none for one that cannot be read.
    private static func parts(of url: String) -> [(String, String)] {
        guard let options = unsafe PQconninfoParse(url, nil) else { return [] }
        defer { unsafe PQconninfoFree(options) }
        var parts: [(String, String)] = []
        // The last option has no keyword.
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                unsafe parts.append((String(cString: keyword), String(cString: value)))
            }
            unsafe option += 1
        }
        return parts
    }

    deinit { unsafe PQfinish(handle) }

    /// Whether no transaction is open. A connection without its server has no such state.
    var isIdle: Bool { unsafe PQtransactionStatus(handle) == PQTRANS_IDLE }

    /// Lets the statements of the open transaction take, and wait for locks, as long as they need.
    func liftTimeouts() throws(PostgreSQLError) {
        answerMilliseconds = Limits.longAnswerMilliseconds
        try run(script: "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
    }

    /// Ends what ``liftTimeouts()`` began. The server ends its part with the transaction.
    func restoreTimeouts() { answerMilliseconds = Self.usualAnswerMilliseconds }

    /// Runs a statement that PostgreSQL takes in no transaction, such as `CREATE INDEX CONCURRENTLY`. It may take,
    /// and wait for locks, as long as it needs.
    @available(*, noasync)
    public func runAlone(_ sql: String) throws(PostgreSQLError) {
        try run(script: "SET statement_timeout = 0; SET lock_timeout = 0")
        answerMilliseconds = Limits.longAnswerMilliseconds
        defer {
            restoreTimeouts()
            // A connection that is lost has no settings.
            try? run(
                script: """
                    SET statement_timeout = \(Limits.statementMilliseconds); \
                    SET lock_timeout = \(lockMilliseconds)
                    """)
        }
        try run(script: sql)
    }

    /// Looks whether a URL can be read, without connecting.
    public static func check(_ url: String) throws(PostgreSQLError) {
        guard url.hasPrefix("postgresql://") || url.hasPrefix("postgres://") else {
            throw .badURL("it does not begin with postgresql://")
        }
        if url.utf8.contains(0) { throw .badURL("it holds U+0000") }
        var error: UnsafeMutablePointer<CChar>?
        let options = unsafe PQconninfoParse(url, &error)
        let message = unsafe Self.message(error)
        unsafe PQfreemem(error)
        guard let options = unsafe options else { throw .badURL(Self.withoutValue(message)) }
        unsafe PQconninfoFree(options)
    }

    /// A name as a quoted identifier of SQL.
    public static func identifier(_ name: String) -> String {
        "\"\(name.replacing("\"", with: "\"\""))\""
    }

    /// Runs one statement, prepared on first use, and gives its rows.
    @available(*, noasync) @discardableResult
    public func run(
        _ sql: String, _ values: [PostgreSQLValue] = [], keep: Bool = true
    ) throws(PostgreSQLError) -> [PostgreSQLRow] {
        if values.contains(where: { $0.wire?.utf8.contains(0) ?? false }) { throw .zeroInText }
        if values.count > Limits.statementValues { throw .tooManyValues }
        guard keep else { return try rows(of: sql, values, isName: false) }
        if let name = prepared[sql] { return try rows(of: name, values, isName: true) }
        if prepared.count >= Limits.preparedStatements {
            try rows(of: "DEALLOCATE ALL", [], isName: false)
            prepared = [:]
        }
        let name = "s\(prepared.count)"
        guard unsafe PQsendPrepare(handle, name, sql, 0, nil) == 1 else { throw lost() }
        try answer()
        prepared[sql] = name
        return try rows(of: name, values, isName: true)
    }

    /// Runs several statements without values.
    @available(*, noasync)
    public func run(script: String) throws(PostgreSQLError) {
        guard unsafe PQsendQuery(handle, script) == 1 else { throw lost() }
        try answer()
    }

    /// Makes the end of this transaction wait for the synchronous standby, where the server has one, also if
    /// nothing else is written.
    ///
    /// A commit is confirmed after all earlier ones. So what the transaction sees is on the standby too.
    @available(*, noasync)
    public func writeMark() throws(PostgreSQLError) { try run(Self.mark) }

    /// A line in the write-ahead log that changes nothing.
    private static let mark = "SELECT pg_logical_emit_message(true, 'understudy', '')"

    /// Waits until the synchronous standby has all that a new connection sees.
    ///
    /// A server that restarts shows the transactions that still waited for their standby when it ended. A
    /// standby that takes over does not have them, so they must be neither confirmed nor shown before
    /// (docs/decisions/site.md).
    private func awaitStandby() throws(PostgreSQLError) {
        guard unsafe PQsendQuery(handle, Self.mark) == 1 else { throw lost() }
        do throws(PostgreSQLError) {
            try answer(within: Limits.standbyMilliseconds)
        } catch {
            // Where no answer came in time, the server's session would wait on without a client.
            guard isBroken, unsafe PQstatus(handle) == CONNECTION_OK else { throw error }
            cancel()
            throw .unreachable("its synchronous standby confirms nothing")
        }
    }

    /// The texts of the announcements that came, or that come before a time is over; none after that.
    @available(*, noasync)
    func notifications(within milliseconds: Int) throws(PostgreSQLError) -> [String] {
        var texts = takeNotifications()
        if !texts.isEmpty { return texts }
        var place = pollfd(fd: unsafe PQsocket(handle), events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&place, 1, Int32(milliseconds)) > 0 else { return [] }
        guard unsafe PQconsumeInput(handle) == 1 else { throw lost() }
        texts = takeNotifications()
        return texts
    }

    /// The announcements that libpq has read.
    private func takeNotifications() -> [String] {
        var texts: [String] = []
        // Each is freed once its text was copied.
        while let notification = unsafe PQnotifies(handle) {
            if let text = unsafe notification.pointee.extra {
                unsafe texts.append(String(cString: text))
            }
            unsafe PQfreemem(notification)
        }
        return texts
    }

    /// Throws where the server does not answer in time.
    @available(*, noasync)
    func check(within milliseconds: Int) throws(PostgreSQLError) {
        guard unsafe PQsendQuery(handle, "SELECT 1") == 1 else { throw lost() }
        try answer(within: milliseconds)
    }

    /// Asks the server to end what it does for this connection.
    private func cancel() {
        guard let request = unsafe PQgetCancel(handle) else { return }
        defer { unsafe PQfreeCancel(request) }
        // What the server says to it is of no use here.
        var reason = [CChar](repeating: 0, count: 256)
        _ = unsafe reason.withUnsafeMutableBufferPointer { buffer in
            unsafe PQcancel(request, buffer.baseAddress, Int32(buffer.count))
        }
    }

    @discardableResult
    private func rows(
        of statement: String, _ values: [PostgreSQLValue], isName: Bool
    ) throws(PostgreSQLError) -> [PostgreSQLRow] {
        let count = Int32(values.count)
        let sent = unsafe Self.withTexts(values.map(\.wire)) { texts in
            isName
                ? unsafe PQsendQueryPrepared(handle, statement, count, texts, nil, nil, 0)
                : unsafe PQsendQueryParams(handle, statement, count, nil, texts, nil, nil, 0)
        }
        guard sent == 1 else { throw lost() }
        return try answer()
    }

    /// Waits for all that the server says to a statement.
    /// - Parameter milliseconds: how long; nil for ``answerMilliseconds``.
    @discardableResult
    private func answer(
        within milliseconds: Int? = nil
    ) throws(PostgreSQLError) -> [PostgreSQLRow] {
        var rows: [PostgreSQLRow] = []
        var failure: PostgreSQLError?
        let deadline = Self.milliseconds + Int64(milliseconds ?? answerMilliseconds)
        while true {
            try awaitResult(until: deadline)
            guard let result = unsafe PQgetResult(handle) else { break }
            defer { unsafe PQclear(result) }
            switch unsafe PQresultStatus(result) {
            case PGRES_TUPLES_OK: rows = unsafe Self.rows(result)
            case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: break
            default: unsafe failure = failure ?? Self.failure(result)
            }
        }
        guard let failure else { return rows }
        if unsafe PQstatus(handle) != CONNECTION_OK {
            isBroken = true
            // The server's error says why it ended the connection.
            if case .refused(_, let message) = failure { throw .unreachable(message) }
        }
        throw failure
    }

    /// Waits until a result can be taken without blocking.
    private func awaitResult(until deadline: Int64) throws(PostgreSQLError) {
        while unsafe PQisBusy(handle) == 1 {
            let isUnsent = unsafe PQflush(handle) == 1
            let events = Int16(POLLIN) | (isUnsent ? Int16(POLLOUT) : 0)
            var place = pollfd(fd: unsafe PQsocket(handle), events: events, revents: 0)
            let left = deadline - Self.milliseconds
            guard left > 0 else {
                isBroken = true
                throw .unreachable("no answer came in time")
            }
            let ready = unsafe poll(&place, 1, Int32(left))
            if ready == 0 || ready < 0 && errno == EINTR { continue }
            guard unsafe PQconsumeInput(handle) == 1 else { throw lost() }
        }
    }

    private func lost() -> PostgreSQLError {
        isBroken = true
        return unsafe .unreachable(Self.message(PQerrorMessage(handle)))
    }

    private static func failure(_ result: OpaquePointer) -> PostgreSQLError {
        let state = unsafe PQresultErrorField(result, Int32(UInt8(ascii: "C")))
        let text = unsafe PQresultErrorField(result, Int32(UInt8(ascii: "M")))
        // An error without a state is libpq's own: the connection is gone.
        guard unsafe state != nil else {
            return unsafe .unreachable(message(PQresultErrorMessage(result)))
        }
        return unsafe .refused(state: message(state), message: message(text))
    }

    private static func rows(_ result: OpaquePointer) -> [PostgreSQLRow] {
        let columns = unsafe PQnfields(result)
        return (0..<(unsafe PQntuples(result))).map { row in
            PostgreSQLRow(
                values: (0..<columns).map { column in
                    if unsafe PQgetisnull(result, row, column) == 1 { return nil }
                    let length = Int(unsafe PQgetlength(result, row, column))
                    guard let start = unsafe PQgetvalue(result, row, column) else { return nil }
                    // libpq keeps these bytes until the result is cleared.
                    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: length)
                    return unsafe String(decoding: bytes, as: UTF8.self)
                })
        }
    }

    /// What libpq says, in one line without its stop.
    private static func message(_ text: UnsafePointer<CChar>?) -> String {
        guard let text = unsafe text else { return "" }
        var message = unsafe String(cString: text)
        while let last = message.last, last.isWhitespace || last == "." { message.removeLast() }
        return message.replacing("\n\t", with: " ").replacing("\n", with: "; ")
    }

    /// libpq's reason without the part of the URL that it quotes, which may be the password. The name of a
    /// parameter stays.
    private static func withoutValue(_ reason: String) -> String {
        if reason.contains("query parameter") { return reason }
        if reason.contains("invalid integer value") {
            return "a number in it is none; a / in a password is written %2F"
        }
        guard let quoted = reason.firstRange(of: ": \"") else { return reason }
        return String(reason[..<quoted.lowerBound])
    }

    /// Lends texts as C strings, with a null pointer for each nil and one behind the last.
    private static func withTexts<Result>(
        _ texts: [String?], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let characters = texts.map { $0.map { Array($0.utf8CString) } }
        let all = characters.flatMap { $0 ?? [] }
        // One buffer holds all texts while the call lasts; the pointers lead into it.
        return unsafe all.withUnsafeBufferPointer { buffer in
            let start = buffer.baseAddress
            var pointers: [UnsafePointer<CChar>?] = unsafe []
            var place = 0
            for text in characters {
                guard let text else {
                    unsafe pointers.append(nil)
                    continue
                }
                unsafe pointers.append(start.map { unsafe $0 + place })
                place += text.count
            }
            unsafe pointers.append(nil)
            return unsafe pointers.withUnsafeBufferPointer { list in
                guard let first = list.baseAddress else {
                    preconditionFailure("The list holds at least the last null pointer")
                }
                return unsafe body(first)
            }
        }
    }

    /// Milliseconds of a clock that never jumps.
    static var milliseconds: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// A value that goes with a statement. The statement names its type: `$1::bigint`.
public enum PostgreSQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case boolean(Bool)
    case text(String)

    /// A text, or null.
    public init(_ text: String?) { self = text.map { .text($0) } ?? .null }

    /// The value in PostgreSQL's text form; nil for null.
    var wire: String? {
        switch self {
        case .null: nil
        case .integer(let value): String(value)
        case .boolean(let value): value ? "t" : "f"
        case .text(let text): text
        }
    }
}

/// One row of an answer: each value in PostgreSQL's text form, nil for null.
public struct PostgreSQLRow: Sendable, Hashable {
    let values: [String?]

    /// A text.
    public func text(_ place: Int) throws(PostgreSQLError) -> String {
        guard let text = values[place] else { throw .unexpectedAnswer }
        return text
    }

    /// A text, or null.
    public func textOrNull(_ place: Int) -> String? { values[place] }

    /// A whole number.
    public func integer(_ place: Int) throws(PostgreSQLError) -> Int64 {
        guard let number = values[place].flatMap({ Int64($0) }) else { throw .unexpectedAnswer }
        return number
    }

    /// True or false.
    public func boolean(_ place: Int) throws(PostgreSQLError) -> Bool {
        switch values[place] {
        case "t": true
        case "f": false
        case _: throw .unexpectedAnswer
        }
    }
}
