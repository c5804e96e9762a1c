package import SyncCore
package import TablesProtocol

// Answers about what is kept: the stores of all users, their bytes, backups; and who may use them.
extension Answers {
    /// An identity that has a store. What is not known of a closed store is null.
    package struct KnownIdentity: Codable, Sendable, Hashable {
        /// Whose it is: `anonymous`, or the key of a user.
        package let identity: String
        package let state: State
        package let openOperations: Int?
        /// How many of them are in conflict.
        package let conflicts: Int?
        /// How many of them are quarantined.
        package let quarantined: Int?
        package let oldestAt: Instant?
        package let items: Int?
        package let bytes: Int64?

        /// Whether its store is open.
        package enum State: String, Codable, Sendable, Hashable, CaseIterable {
            case open, closed, unexamined, failed
        }
    }

    /// What a store takes on disk.
    package struct StoredBytes: Codable, Sendable, Hashable {
        /// Whose it is: `anonymous`, or the key of a user.
        package let identity: String
        package let bytes: Int64
        package let tombstones: Int
        package let parts: [StoragePart]
        package let retention: Retention
    }

    /// A backup of the backup folder.
    package struct KeptBackup: Codable, Sendable, Hashable {
        package let path: String
        package let at: Instant
    }

    /// The backups and the plan; everySeconds is null where none is made by itself.
    package struct BackupPage: Codable, Sendable, Hashable {
        package let items: [KeptBackup]
        package let next: String?
        package let total: Int
        package let folder: String
        package let everySeconds: Int64?
        package let keep: Int
        package let failure: String?
        package let nextAt: Instant?
    }

    /// A backup that was made and checked.
    package struct BackupMade: Codable, Sendable, Hashable {
        package let path: String
        package let at: Instant
        package let stores: [BackedUpStore]
    }

    /// The copy of one store.
    package struct BackedUpStore: Codable, Sendable, Hashable {
        /// Whose it is: `anonymous`, or the key of a user.
        package let identity: String
        package let bytes: Int64
        package let items: Int
        package let openOperations: Int
    }

    /// Who the caller is.
    package struct Session: Codable, Sendable, Hashable {
        package let kind: Kind
        package let expiresAt: Instant?
        package let identities: [String]

        /// By what the caller is known.
        package enum Kind: String, Codable, Sendable, Hashable, CaseIterable {
            case bearer, session
        }
    }

    /// A new session of the dashboard.
    package struct SignedIn: Codable, Sendable, Hashable {
        /// Send it as `Understudy-Session` with every request, beside the cookie. Keep it in localStorage
        /// (cookies ignore ports, localStorage does not).
        package let session: String
        package let expiresAt: Instant
        /// Whether it sees all and changes nothing.
        package let isReadOnly: Bool
    }

    /// A one-time link to the dashboard.
    package struct Link: Codable, Sendable, Hashable {
        /// Opens the dashboard signed in, once.
        package let url: String
        package let expiresAt: Instant
    }

    /// A capability address, without its secret.
    package struct Access: Codable, Sendable, Hashable {
        package let name: String
        package let madeAt: Instant
        /// Since the start; null for not yet.
        package let lastUsedAt: Instant?
    }

    /// A capability address that was made.
    package struct AccessAdded: Codable, Sendable, Hashable {
        package let name: String
        /// What the client uses instead of http://127.0.0.1:8080.
        package let url: String
        package let madeAt: Instant
    }

    /// A browser that is signed in.
    package struct DashboardSession: Codable, Sendable, Hashable {
        package let id: String
        /// What it calls itself.
        package let browser: String
        package let startedAt: Instant
        package let expiresAt: Instant
        /// Whether the caller is this one.
        package let isCurrent: Bool
        /// Whether it sees all and changes nothing.
        package let isReadOnly: Bool
    }
}

extension Answers.Access {
    init(_ entry: Capabilities.Entry) {
        self.init(
            name: entry.capability.name, madeAt: entry.capability.madeAt,
            lastUsedAt: entry.lastUsedAt)
    }
}

extension Answers.DashboardSession {
    init(_ session: OperatorAccess.Session, isCurrent: Bool) {
        self.init(
            id: session.id, browser: session.browser, startedAt: session.startedAt,
            expiresAt: session.expiresAt, isCurrent: isCurrent, isReadOnly: session.isReadOnly)
    }
}
