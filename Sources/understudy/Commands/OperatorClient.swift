import ArgumentParser
import HTTPClient
import HTTPMessage
import HTTPTypes
import Platform
import Program
import Proxy
import TablesProtocol

/// A client of the operator API of a running Understudy or of ``OfflineAdmin``.
struct OperatorClient: Sendable {
    private let transport: any HTTPTransport
    private let authority: String
    private let token: String
    /// The value of `?identity=`; nil for `anonymous`.
    private var identity: String?
    /// Whether an Understudy runs; otherwise the answers are from ``OfflineAdmin``.
    let isRunning: Bool

    /// - Parameter authority: host and port of the API.
    init(
        _ transport: any HTTPTransport, authority: String, token: String, identity: String?,
        isRunning: Bool
    ) {
        self.transport = transport
        self.authority = authority
        self.token = token
        self.identity = identity
        self.isRunning = isRunning
    }

    /// The client for routes that are for all identities.
    var forAll: OperatorClient { of(nil) }

    func of(_ identity: String?) -> OperatorClient {
        var client = self
        client.identity = identity
        return client
    }

    /// The answer to a request.
    func answer<Answer: Decodable>(
        _ request: RouteRequest<Answer>
    ) async throws(StartProblem) -> Answer { try await answer(request, as: Answer.self) }

    /// The answer to a request with more or less of its form.
    func answer<Answer, Form: Decodable>(
        _ request: RouteRequest<Answer>, as form: Form.Type
    ) async throws(StartProblem) -> Form {
        let response: Response
        do {
            response = try await transport.send(message(of: request))
        } catch {
            throw unanswered(error)
        }
        let isEmpty = response.head.status == .noContent
        let value = Result { () throws(JSONError) in
            try isEmpty
                ? .object([])
                : JSONValue(
                    parsing: response.bytes ?? [], maxDepth: TablesProtocol.Limits.envelopeDepth)
        }
        guard (200..<300).contains(response.head.status.code) else {
            throw Self.problem(try? value.get(), response.head.status, request.path)
        }
        do {
            return try Form(answer: value.get())
        } catch let problem as AnswerProblem {
            throw StartProblem(
                "The answer to \(request.path) cannot be read: \(problem.sentence) If the running "
                    + "Understudy is of another version, restart it.", .error)
        } catch {
            throw StartProblem("The answer to \(request.path) cannot be read. \(error)", .error)
        }
    }

    private static func problem(
        _ body: JSONValue?, _ status: HTTPResponse.Status, _ path: String
    ) -> StartProblem {
        let problem = body.flatMap { try? Answers.Problem(answer: $0) }
        // `settings set` names the members as the API does.
        let isNamed = path == StatusRoutes.changeSettings().path
        let place = isNamed ? nil : problem?.pointer ?? problem?.parameter
        return StartProblem(
            naming(option: place, in: problem?.detail ?? "It answered \(status)."),
            status == .badRequest ? .usage : .error)
    }

    /// Reads a whole list while it arrives.
    /// - Parameter each: gets each line without its end.
    func lines<Answer>(
        of request: RouteRequest<Answer>, _ form: ListFormat,
        _ each: (String) throws(StartProblem) -> Void
    ) async throws(StartProblem) {
        var whole = request
        whole.query += [Fields.format(form)].compactMap(\.self)
        let response: Response
        do {
            response = try await transport.open(message(of: whole))
        } catch {
            throw unanswered(error)
        }
        var begun: [UInt8] = []
        try await Self.pieces(of: response) { piece throws(StartProblem) in
            begun += piece
            guard response.head.status == .ok, piece.contains(Self.lineFeed) else { return }
            let lines = begun.split(separator: Self.lineFeed, omittingEmptySubsequences: false)
            for line in lines.dropLast() { try each(String(decoding: line, as: UTF8.self)) }
            begun = Array(lines.last ?? [])
        }
        if response.head.status != .ok {
            throw Self.problem(
                try? JSONValue(parsing: begun), response.head.status, request.path)
        }
    }

    /// Reads all elements of a list while they arrive.
    func elements<Answer>(
        of request: RouteRequest<Answer>, _ each: (JSONValue) throws(StartProblem) -> Void
    ) async throws(StartProblem) {
        try await lines(of: request, .jsonl) { line throws(StartProblem) in
            let element = try? JSONValue(
                parsing: Array(line.utf8), maxDepth: TablesProtocol.Limits.envelopeDepth)
            guard let element else {
                throw StartProblem("The answer to \(request.path) cannot be read.", .error)
            }
            try each(element)
        }
    }

    private static let lineFeed = UInt8(ascii: "\n")

    private static func pieces(
        of response: Response, _ take: ([UInt8]) throws(StartProblem) -> Void
    ) async throws(StartProblem) {
        let stream: ByteStream
        switch response.body {
        case .bytes(let bytes): return try take(bytes)
        case .stream(let open): stream = open
        }
        let (readable, isReadable) = AsyncStream.makeStream(of: Void.self)
        var wakes = readable.makeAsyncIterator()
        while true {
            switch stream.read(
                maxBytes: Platform.Limits.filePieceBytes, wake: { isReadable.yield() })
            {
            case .bytes(let bytes): try take(bytes)
            case .wait: await wakes.next()
            case .end: return
            case .failed:
                throw StartProblem(
                    "The list broke off before its end; what was written is not whole. Run the "
                        + "command again.", .error)
            }
        }
    }

    /// The sentence on a wrong value with the option that has the value instead of the place in the request.
    static func naming(option place: String?, in detail: String) -> String {
        guard let place, let option = options[place], detail.hasPrefix("\(place) ") else {
            return detail
        }
        return option + detail.dropFirst(place.count)
    }

    /// The options that the commands send, by the place in the body or the parameter of the query.
    private static let options = [
        "after": "--after", "limit": "--limit", "state": "--state", "when": "--when",
        "from": "--from", "to": "--to", "kind": "--kind", "by": "--by",
        "/filter/q": "--text", "/filter/table": "--table", "/filter/state": "--state",
        "/filter/reason": "--reason", "/forSeconds": "--for", "/query": "--query",
        "/queryId": "--query-id", "/readPolicy": "--read", "/writePolicy": "--write",
        "/conflictPolicy": "--conflict", "/unconditionalPolicy": "--unconditional",
    ]

    private func message<Answer>(of request: RouteRequest<Answer>) -> Request {
        var head = HTTPRequest(
            method: request.method, scheme: "http", authority: authority,
            path: request.target(identity: identity))
        head.headerFields[.authorization] = "Bearer \(token)"
        let hasBody = request.method == .post || request.method == .patch
        if hasBody { head.headerFields[.contentType] = "application/json" }
        return Request(
            head: head, body: hasBody ? Array(JSONValue.object(request.body).text.utf8) : [])
    }

    private func unanswered(_ error: TransportError) -> StartProblem {
        // A server that has got the request runs, even if it does not answer in time.
        StartProblem(
            "No Understudy answers at \(authority): \(error.message)",
            error.reach == .maybeSent ? .error : .notRunning)
    }
}

/// The options of the commands that use the operator API.
struct ClientOptions: ParsableArguments {
    @Option(
        help: "The data folder of the Understudy to talk to. (default: in ~/.local/share)",
        completion: .directory)
    var data: String?

    @Option(help: "The configuration file that names the data folder.", completion: .file())
    var config: String?

    @Option(help: "Whose rows and operations, as 'identities' lists them. (default: anonymous)")
    var identity: String?

    @Flag(help: "Print JSON: the answer of the operator API as it is.")
    var json = false

    @Flag(
        name: .shortAndLong,
        help: "Print nothing but errors and what --json prints; the exit code says the rest.")
    var quiet = false

    /// The sources of settings.
    /// - Parameter more: further flags by name.
    func sources(_ more: [String: [String]] = [:]) throws(StartProblem) -> Sources {
        UnknownVariable.said
        let environment = ThisProcess.environment
        let flags = [Settings.data.name: data.map { [$0] } ?? []].merging(more) { $1 }
        return Sources(
            flags: flags, environment: environment,
            file: try ConfigurationFile.load(
                flag: config, environment: environment, for: ServeFile.kind))
    }

    /// The data folder of the options and settings.
    func folder() throws(StartProblem) -> DataFolder {
        do {
            if let folder = try sources().value(Settings.data) { return folder }
        } catch {
            throw StartProblem(reading: error)
        }
        return try DataFolder.standard(
            name: "understudy", environment: ThisProcess.environment)
    }

    /// Calls `body` with a client of the running Understudy; throws if none runs.
    func withOperator<Value: Sendable>(
        _ body: (OperatorClient) async throws -> Value
    ) async throws -> Value {
        let folder = try folder()
        guard let value = try await withRunning(folder, body) else {
            throw StartProblem(
                "No Understudy runs on \(folder.path). Start one, or name its folder with --data.",
                .notRunning)
        }
        return value
    }

    /// Calls `body` with a client of the running Understudy, or of ``OfflineAdmin`` if none runs.
    func withOperatorOrStore<Value: Sendable>(
        _ body: (OperatorClient) async throws -> Value
    ) async throws -> Value {
        let folder = try folder()
        if let value = try await withRunning(folder, body) { return value }
        try FolderOwner.become(of: folder)
        let sources = try sources()
        let admin = try await OfflineAdmin.open(
            folder, sources, log: try ProcessLog(sources).logger)
        return try await admin.whileOpen {
            try await body(
                OperatorClient(
                    admin, authority: OfflineAdmin.authority, token: admin.token,
                    identity: identity, isRunning: false))
        }
    }

    /// Goes on as the folder's owner, if this user is root and no Understudy runs there. For commands that
    /// open files before they use the store.
    func becomeOwner() async throws {
        let folder = try folder()
        guard FolderOwner.isAnother(folder) else { return }
        let isRunning = try? await withRunning(folder) { _ in true }
        if isRunning == nil { try FolderOwner.become(of: folder) }
    }

    /// Calls `body` with a client of the running Understudy; nil if none runs.
    ///
    /// The client connects to the folder's socket, never to a port. After a crash any user of this machine
    /// can listen on the port, and would get the token.
    private func withRunning<Value: Sendable>(
        _ folder: DataFolder, _ body: (OperatorClient) async throws -> Value
    ) async throws -> Value? {
        guard folder.hasSocket else { return nil }
        try folder.refuseForeignSocket()
        let address: String?
        let token: String?
        let socket: SocketPath
        do {
            (address, token) = (try folder.address(), try folder.token())
            socket = try folder.socketPath()
        } catch {
            throw StartProblem("\(error)", .error)
        }
        defer { socket.close() }
        guard let address else { return nil }
        let transport: CurlTransport
        do {
            transport = try CurlTransport(
                ClientConfiguration(
                    requestTimeout: .seconds(Limits.commandSeconds), unixSocket: socket.path))
        } catch {
            throw StartProblem(error.message, .error)
        }
        let authority = String(address.dropFirst("http://".count))
        do {
            var value: Value?
            if await Self.answers(transport, authority) {
                guard let token else {
                    throw StartProblem(
                        "\(folder.tokenFile) is missing: restart Understudy, which makes a new one.",
                        .error)
                }
                value = try await body(
                    OperatorClient(
                        transport, authority: authority, token: token, identity: identity,
                        isRunning: true))
            }
            await transport.stop()
            return value
        } catch {
            await transport.stop()
            throw error
        }
    }

    /// What the running Understudy says of itself; nil if none runs.
    func runningState() async throws -> RunningState? {
        try await withRunning(try folder()) {
            await RunningState.read($0, identity: identity)
        }
    }

    /// Whether a process answers at the folder's socket. The file of a crashed process refuses connections.
    private static func answers(_ transport: CurlTransport, _ authority: String) async -> Bool {
        let head = HTTPRequest(
            method: .get, scheme: "http", authority: authority, path: "/-/livez")
        do throws(TransportError) {
            _ = try await transport.send(Request(head: head))
            return true
        } catch {
            // A server that has accepted the request runs, even if it does not answer in time.
            return error.reach == .maybeSent
        }
    }

    /// Prints an answer as JSON, or as the lines of `words`.
    func show<Answer: Encodable>(_ answer: Answer, _ words: (Answer) -> [String]) {
        if json {
            ThisProcess.print(json: JSONValue(answer: answer).text)
        } else if !quiet {
            for line in words(answer) { ThisProcess.print(line) }
        }
    }

    /// Writes a line that is no error to standard error.
    func tell(_ line: String) {
        if !quiet { ThisProcess.say(line) }
    }
}
