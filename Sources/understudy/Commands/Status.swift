import ArgumentParser
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
                status: try await client.get("/status"),
                users: try await UserStores.read(client, options), isRunning: client.isRunning)
            if verbose { found.storage = try await client.get("/storage") }
            // Without a server the settings are those of this command.
            if client.isRunning {
                found.isManual = Holding.isManual(try await client.get("/settings"))
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

    var path: String { "/rejections" }

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

    var path: String { "/identities" }

    func lines(of one: Answers.KnownIdentity) -> [String] { [TerminalText.identity(one)] }
}
