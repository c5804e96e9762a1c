import ArgumentParser
import HTTPClient
import HTTPMessage
import HTTPTypes
import Proxy
import TablesProtocol

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
            file: try ConfigurationFile.load(flag: config, environment: environment))
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
    func show(_ answer: JSONValue, _ words: (JSONValue) -> [String]) {
        if json {
            ThisProcess.print(json: answer.text)
        } else if !quiet {
            for line in words(answer) { ThisProcess.print(line) }
        }
    }

    /// Writes a line that is no error to standard error.
    func tell(_ line: String) {
        if !quiet { ThisProcess.say(line) }
    }
}

/// The option of commands whose effect cannot be undone.
struct Confirmation: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do it without asking.")
    var yes = false

    /// Asks for a confirmation. Throws without one, and if there is neither a terminal nor `--yes`.
    /// - Parameter question: the effect as a sentence without its full stop.
    func confirm(_ question: String) throws {
        if yes { return }
        guard ThisProcess.canAsk else {
            throw StartProblem(
                "\(question): this needs --yes, since there is no terminal to ask at.")
        }
        guard ThisProcess.ask("\(question). Go on? [y/N] ") == "y" else {
            ThisProcess.say("Nothing was done.")
            throw ExitStatus.error
        }
    }
}

/// The options of commands that list.
struct PageOptions: ParsableArguments {
    @Option(help: "How many to show, at most \(Proxy.Limits.pageElementsMax).")
    var limit = 50

    @Option(help: "Where the list before ended.")
    var after: String?

    func validate() throws {
        guard (1...Proxy.Limits.pageElementsMax).contains(limit) else {
            throw ValidationError(
                "--limit must be a whole number from 1 to \(Proxy.Limits.pageElementsMax).")
        }
    }

    /// The options as query pairs of the operator API.
    var query: [(String, String?)] { [("limit", String(limit)), ("after", after)] }
}
