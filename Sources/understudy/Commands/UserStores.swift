import Proxy

/// What waits in the stores of the users who signed in, all together. A command without `--identity` shows
/// the store of clients that do not sign in, and says with this that there is more.
struct UserStores: Encodable, Sendable, Hashable {
    var stores = 0
    /// How many of them were not looked at since the start, or could not be opened.
    var unknown = 0
    var openOperations = 0
    /// How many of them are in conflict.
    var conflicts = 0
    /// How many of them are quarantined.
    var quarantined = 0

    /// Adds up the answer to `GET /identities`.
    init(_ identities: Answers.Page<Answers.KnownIdentity>) {
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
        return UserStores(try await client.forAll.get("/identities"))
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
