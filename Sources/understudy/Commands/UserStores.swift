import Proxy
import TablesProtocol

/// What waits in the stores of the users who signed in, all together. A command without `--identity` shows
/// the store of clients that do not sign in, and says with this that there is more.
struct UserStores: Sendable, Hashable {
    /// The number of users' stores.
    var stores: Int64 = 0
    /// How many of them were not looked at since the start, or could not be opened.
    var unknown: Int64 = 0
    /// Open operations of all kinds.
    var open: Int64 = 0
    /// How many of them are in conflict.
    var conflicts: Int64 = 0
    /// How many of them are quarantined.
    var quarantined: Int64 = 0

    /// Adds up the answer to `GET /identities`.
    init(_ identities: JSONValue) {
        for one in identities["items"]?.array ?? []
        where one["identity"]?.string != Identity.anonymousKey {
            stores += 1
            guard let count = one["openOperations"]?.integer else {
                unknown += 1
                continue
            }
            open += count
            conflicts += one["conflicts"]?.integer ?? 0
            quarantined += one["quarantined"]?.integer ?? 0
        }
    }

    /// Asks for the users' stores; nil if the command names an identity.
    static func read(
        _ client: OperatorClient, _ options: ClientOptions
    ) async throws(StartProblem) -> UserStores? {
        guard options.identity == nil else { return nil }
        return UserStores(try await client.forAll.get("/identities"))
    }

    /// As a member of `status --json`.
    var json: JSONValue {
        .members(
            ("stores", .number(stores)), ("unknown", .number(unknown)),
            ("openOperations", .number(open)), ("conflicts", .number(conflicts)),
            ("quarantined", .number(quarantined)))
    }

    /// Such as `2 stores, 3 open operations (1 conflict), 1 not looked at yet: understudy identities`; nil
    /// without a user's store.
    var text: String? {
        guard stores > 0 else { return nil }
        var parts = [Self.count(stores, "store")]
        if open > 0 || unknown == 0 {
            parts.append(Self.count(open, "open operation") + needed)
        }
        if unknown > 0 { parts.append("\(unknown) not looked at yet") }
        return parts.joined(separator: ", ") + ": understudy identities"
    }

    /// The line of a command that shows the anonymous store alone; nil if nothing is known to wait elsewhere.
    var hint: String? {
        guard open > 0 else { return nil }
        return
            "Users who signed in have \(Self.count(open, "open operation"))\(needed) in stores of "
            + "their own: `understudy identities` lists them, --identity chooses one."
    }

    /// Those that a person must decide, in brackets.
    private var needed: String {
        var parts: [String] = []
        if conflicts > 0 { parts.append(Self.count(conflicts, "conflict")) }
        if quarantined > 0 { parts.append("\(quarantined) quarantined") }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }

    private static func count(_ number: Int64, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
