import ArgumentParser
import Platform
import Proxy
import SyncCore
import TablesProtocol

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "How things stand: backend, queue, ledger, tables.",
        discussion: """
            Ends with 6 when no Understudy runs (the store's state is shown all the same), 3 when \
            the backend cannot be reached or offline mode is on, 4 with conflicts open, 5 with \
            refused operations. Without --identity the stores of all users count too. \
            JSON: as GET /-/api/v1/status in /-/openapi.json; without --identity also users, \
            {stores, unknown, openOperations, conflicts, quarantined}; with \
            --verbose also storage, as GET /-/api/v1/storage.
            """)

    @Flag(help: "Show as well what the store takes on disk, and how long what is in it is kept.")
    var verbose = false

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let found = try await options.withOperatorOrStore { [verbose, options] client in
            var found = Found(
                status: try await client.answer(StatusRoutes.status()),
                users: try await UserStores.read(client, options), isRunning: client.isRunning)
            if verbose { found.storage = try await client.answer(StatusRoutes.storage()) }
            // Without a server the settings are those of this command.
            if client.isRunning {
                found.isManual = Holding.isManual(
                    try await client.answer(StatusRoutes.settings()))
            }
            return found
        }
        options.show(found) { found in
            TerminalText.status(found.status, users: found.users, isManual: found.isManual)
                + (found.storage.map(TerminalText.storage) ?? [])
        }
        if !found.isRunning {
            options.tell("No Understudy runs; this is what the store holds.")
            throw ExitStatus.notRunning
        }
        let status = found.status
        if status.mode.mode == .offline || status.backend.state != .online {
            throw ExitStatus.offline
        }
        try Status.throwOpen(
            conflicts: status.queue.conflict + (found.users?.conflicts ?? 0),
            quarantined: status.queue.quarantined + (found.users?.quarantined ?? 0))
    }

    /// What the command shows: the status, with the users and the storage as further members.
    private struct Found: Encodable, Sendable {
        let status: Answers.Status
        let users: UserStores?
        var storage: Answers.StoredBytes?
        var isManual = false
        let isRunning: Bool

        private enum CodingKeys: CodingKey { case users, storage }

        func encode(to encoder: any Encoder) throws {
            try status.encode(to: encoder)
            var more = encoder.container(keyedBy: CodingKeys.self)
            if let users { try more.encode(users, forKey: .users) }
            if let storage { try more.encode(storage, forKey: .storage) }
        }
    }

    /// Throws the exit code for open conflicts or refused operations.
    static func throwOpen(conflicts: Int, quarantined: Int) throws {
        if conflicts > 0 { throw ExitStatus.conflicts }
        if quarantined > 0 { throw ExitStatus.quarantined }
    }
}

struct Rejections: ListCommand {
    static let configuration = CommandConfiguration(
        abstract: "Requests that were refused before they were routed, since the start, and why.",
        discussion: """
            A client that gets nothing but errors is often in this list, with the option that \
            allows it. JSON: {items: [rejection], next, total}.
            """)
    static let needsServer = true
    static let nothing = "No request was refused."

    @OptionGroup var options: ClientOptions

    var request: RouteRequest<Page<Answers.Rejection>> { StatusRoutes.rejected() }

    func lines(of rejection: Answers.Rejection) -> [String] {
        [TerminalText.members(rejection).joined(separator: "  ")]
    }
}

struct Identities: ListCommand {
    static let configuration = CommandConfiguration(
        abstract: "The users that have a store here, with their queues.",
        discussion: """
            Name one in --identity of other commands. Of a closed store that was not looked at since \
            the start nothing is known yet. JSON: {items: [{identity, state, openOperations, \
            oldestAt, items, bytes}], next, total}.
            """)
    // There is always the anonymous one.
    static let nothing = ""

    @OptionGroup var options: ClientOptions

    var request: RouteRequest<Page<Answers.KnownIdentity>> { StatusRoutes.identities() }

    func lines(of one: Answers.KnownIdentity) -> [String] { [TerminalText.identity(one)] }
}

/// What keeps queued operations from being sent.
enum Holding {
    /// Asks what holds the queue of the client's identity; nil if the next push sends it.
    static func read(_ client: OperatorClient) async throws(StartProblem) -> String? {
        guard client.isRunning else { return "No Understudy runs." }
        let runs = try await client.answer(SyncRoutes.list(query: [Fields.limit(2)]))
        return reason(
            status: try await client.answer(StatusRoutes.status()),
            settings: try await client.answer(StatusRoutes.settings()),
            lastRun: runs.items.first { $0.state != .running })
    }

    /// The sentence on what holds a queue; nil if nothing does.
    /// - Parameter lastRun: the latest run that has ended.
    static func reason(
        status: Answers.Status, settings: Answers.Settings, lastRun: Run?
    ) -> String? {
        if status.mode.mode == .offline {
            return "Offline mode is on; `understudy online` ends it."
        }
        let backend = status.backend
        if backend.isAsked, backend.state != .online {
            return "The backend is \(backend.state.rawValue): \(backend.reason)"
        }
        if isManual(settings) {
            return "A write starts no push (sync = manual); `understudy sync` sends them."
        }
        if lastRun?.state == .failed, let failure = lastRun?.reason {
            return "The last run failed: \(failure)"
        }
        // Of a backend that answers, the reason says more only where a table is missing.
        return backend.isAsked && backend.reason != answers ? backend.reason : nil
    }

    /// Whether a write starts no push.
    static func isManual(_ settings: Answers.Settings) -> Bool {
        !settings.triggers.contains(.afterWrites)
    }

    /// The reason of a backend about which there is nothing to say.
    private static let answers = "The backend answers."
}

/// What waits in the stores of the users who signed in, all together. A command without `--identity` shows
/// the store of clients that do not sign in, and says with this that there is more.
struct UserStores: Encodable, Sendable, Hashable {
    var stores = 0
    /// How many of them were not looked at since the start, or could not be opened.
    var unknown = 0
    var openOperations = 0
    var conflicts = 0
    var quarantined = 0

    /// Adds up the answer to `GET /identities`.
    init(_ identities: Page<Answers.KnownIdentity>) {
        for one in identities.items where one.identity != Identity.anonymousKey {
            stores += 1
            guard let count = one.openOperations else {
                unknown += 1
                continue
            }
            openOperations += count
            conflicts += one.conflicts ?? 0
            quarantined += one.quarantined ?? 0
        }
    }

    /// Asks for the users' stores; nil if the command names an identity.
    static func read(
        _ client: OperatorClient, _ options: ClientOptions
    ) async throws(StartProblem) -> UserStores? {
        guard options.identity == nil else { return nil }
        return UserStores(try await client.forAll.answer(StatusRoutes.identities()))
    }

    /// Such as `2 stores, 3 open operations (1 conflict), 1 not looked at yet: understudy identities`; nil
    /// without a user's store.
    var text: String? {
        guard stores > 0 else { return nil }
        var parts = [Self.count(stores, "store")]
        if openOperations > 0 || unknown == 0 {
            parts.append(Self.count(openOperations, "open operation") + needed)
        }
        if unknown > 0 { parts.append("\(unknown) not looked at yet") }
        return parts.joined(separator: ", ") + ": understudy identities"
    }

    /// The line of a command that shows the anonymous store alone; nil if nothing is known to wait elsewhere.
    var hint: String? {
        guard openOperations > 0 else { return nil }
        return
            "Users who signed in have \(Self.count(openOperations, "open operation"))\(needed) in "
            + "stores of their own: `understudy identities` lists them, --identity chooses one."
    }

    /// Those that a person must decide, in brackets.
    private var needed: String {
        var parts: [String] = []
        if conflicts > 0 { parts.append(Self.count(conflicts, "conflict")) }
        if quarantined > 0 { parts.append("\(quarantined) refused") }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
