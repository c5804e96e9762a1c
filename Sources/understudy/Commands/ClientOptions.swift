import ArgumentParser
import HTTPClient
import HTTPMessage
import HTTPTypes
import Proxy
import TablesProtocol

/// The options of the commands that talk to a running Understudy, or look into its store.
struct ClientOptions: ParsableArguments {
    @Option(help: "The data folder of the Understudy to talk to. (default: in ~/.local/share)")
    var data: String?

    @Option(help: "The configuration file that names the data folder.")
    var config: String?

    @Option(help: "Whose rows and operations. (default: anonymous)")
    var identity: String?

    @Flag(help: "Print JSON: the answer of the operator API as it is.")
    var json = false

    /// Where settings come from.
    func sources(_ more: [String: [String]] = [:]) throws(StartProblem) -> Sources {
        let environment = ThisProcess.environment
        let flags = [Settings.data.name: data.map { [$0] } ?? []].merging(more) { $1 }
        return Sources(
            flags: flags, environment: environment,
            file: try ConfigurationFile.load(flag: config, environment: environment))
    }

    /// The folder that is meant.
    func folder() throws(StartProblem) -> DataFolder {
        do {
            if let folder = try sources().value(Settings.data) { return folder }
        } catch let problem as ConfigurationProblem {
            throw problem.startProblem
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("\(error)")
        }
        return try DataFolder.standard(
            name: "understudy", environment: ThisProcess.environment)
    }

    /// Talks to the running Understudy, whatever happens after.
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

    /// Talks to the running Understudy, or looks into the store when none runs.
    func withOperatorOrStore<Value: Sendable>(
        _ body: (OperatorClient) async throws -> Value
    ) async throws -> Value {
        let folder = try folder()
        if let value = try await withRunning(folder, body) { return value }
        let admin = try await OfflineAdmin.open(
            folder, log: try ProcessLog(try sources()).logger)
        return try await admin.whileOpen {
            try await body(
                OperatorClient(
                    admin, authority: OfflineAdmin.authority, token: admin.token,
                    identity: identity, isRunning: false))
        }
    }

    /// Talks to the running Understudy; nil when none runs.
    ///
    /// The way is the folder's socket, never a port: a port is free for any user of this machine
    /// after a crash, and what listens there would be handed the token.
    private func withRunning<Value: Sendable>(
        _ folder: DataFolder, _ body: (OperatorClient) async throws -> Value
    ) async throws -> Value? {
        guard folder.hasSocket else { return nil }
        try folder.refuseForeignSocket()
        let address: String?
        let token: String?
        let place: SocketPath
        do {
            (address, token) = (try folder.address(), try folder.token())
            place = try folder.socketPath()
        } catch {
            throw StartProblem("\(error)", .error)
        }
        defer { place.close() }
        guard let address, let token else { return nil }
        let transport: CurlTransport
        do {
            transport = try CurlTransport(
                ClientConfiguration(
                    requestTimeout: .seconds(Limits.commandSeconds), unixSocket: place.path))
        } catch {
            throw StartProblem(error.message, .error)
        }
        let authority = String(address.dropFirst("http://".count))
        do {
            var value: Value?
            if await Self.answers(transport, authority) {
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

    /// The tables that clients of the running Understudy have read and no sync has copied yet; nil when
    /// none runs.
    func wantedTables() async throws -> [TableName]? {
        try await withRunning(try folder()) { client in
            let status = try? await client.get("/status")
            return (status?["wantedTables"]?.array ?? []).compactMap {
                $0.string.flatMap { TableName($0) }
            }
        }
    }

    /// Whether a process answers at the folder's socket; a file that a crash left refuses.
    private static func answers(_ transport: CurlTransport, _ authority: String) async -> Bool {
        let head = HTTPRequest(
            method: .get, scheme: "http", authority: authority, path: "/-/livez")
        do throws(TransportError) {
            _ = try await transport.send(Request(head: head))
            return true
        } catch {
            // A server that takes the request but does not answer in time is there.
            return error.reach == .maybeSent
        }
    }

    /// Prints an answer: as it is, or in words.
    func show(_ answer: JSONValue, _ words: (JSONValue) -> [String]) {
        if json {
            ThisProcess.print(json: answer.text)
        } else {
            for line in words(answer) { ThisProcess.print(line) }
        }
    }
}

/// The option of commands that give something up for good.
struct Confirmation: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do it without asking.")
    var yes = false

    /// Asks whether to go on. Without a person at the terminal the answer must have been given.
    /// - Parameter question: what is about to happen, without a question mark.
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

    /// As the operator API takes them.
    var query: [(String, String?)] { [("limit", String(limit)), ("after", after)] }
}
