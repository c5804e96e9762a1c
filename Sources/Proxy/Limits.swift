import SyncCore

/// Every bound of the proxy, with its unit.
package enum Limits {
    /// The largest body of a request to `/tables`.
    static let tablesBodyBytes = 1 << 20
    /// The largest body of a request to the operator API: an imported entry of history has two rows.
    static let operatorBodyBytes = 4 << 20
    /// The largest body that is passed through to the backend, and the largest answer to it.
    package static let passedBodyBytes = 100 << 20
    // What follows counts the connections of clients that may wait for the backend. With
    // ``eventStreams`` they are fewer than the server's connections, so that a backend which does not
    // answer, and clients which do not read, leave connections free for requests that need neither. Those
    // that wait for a place do not count: they give up after ``placeWaitSeconds``.

    /// Requests to the backend that are passed through at once; syncing has its own.
    package static let passedConnections = 16
    /// Those that wait for their clients, which read or send more slowly than the backend does.
    package static let pausedTransfers = 16
    /// Connections to the backend for asking whose a token is, and for signing in.
    package static let signInConnections = 8
    /// Requests without a long body that wait for the backend's answer at once.
    static let requestsAtBackend = 24
    /// Requests that send a body and wait for the backend's answer at once.
    static let uploadsAtBackend = 16
    /// Those of them that wait for a place; each holds at most 1 MiB of its body meanwhile.
    static let uploadsWaiting = 16
    /// Sign-ins, and tokens that the backend is asked about, at once.
    static let signInsAtBackend = 16
    /// Those of them that wait for a place.
    static let signInsWaiting = 84
    /// Seconds that a request waits for such a place at most.
    static let placeWaitSeconds = 10
    /// Lists over the short budget of a read that run at once, those of all clients together.
    static let longReadsAtOnce = 3
    /// The operator's lists that run at once beside them.
    static let operatorReadsAtOnce = 1
    /// Lists over the short budget of a read that wait for one client.
    static let longReadsWaiting = 16
    /// What `Retry-After` says where more would wait, in seconds.
    static let longReadRetrySeconds = 5
    /// The largest body of a sign-in.
    static let loginBodyBytes = 1 << 20
    /// What is kept of a refused Host or Origin.
    static let refusalDetailCharacters = 200
    /// What is logged of a request's path.
    static let loggedPathCharacters = 200
    /// How long a one-time link is good.
    static let linkSeconds: Int64 = 30 * 60
    /// One-time links that wait to be used; the oldest goes first.
    static let links = 20
    /// How long a session of the dashboard is good.
    static let sessionSeconds: Int64 = 30 * 24 * 3600
    /// What is kept of the name that a browser gives itself.
    static let browserNameCharacters = 200
    /// The longest name of a capability address.
    static let capabilityNameBytes = 40
    /// The shortest run of letters, digits, `-` and `_` in a path below `/c/` that may be a secret. Ours
    /// have 43.
    static let capabilitySecretBytes = 22
    /// Sessions at once; the oldest goes first.
    static let sessions = 50
    /// Elements of a page of a list, unless asked for.
    static let pageElements = 50
    /// The most elements of a page of a list that can be asked for.
    package static let pageElementsMax = 500
    /// The most rows of a page of todos that can be asked for.
    package static let pageRowsMax = 1000
    /// Seconds that `POST …/sync` waits for the end unless asked.
    static let waitSeconds = 10
    /// The most seconds that can be asked for.
    static let waitSecondsMax = 60
    /// Seconds between two comment lines of an event stream.
    static let eventHeartbeatSeconds: Int64 = 15
    /// Milliseconds for which a proof that the stores can be written holds.
    static let readinessMilliseconds: Int64 = 1000
    /// Event streams open at once.
    static let eventStreams = 32
    /// After so many seconds a client may come again whose list waits for a table's first pull.
    static let firstPullSeconds = 5
    /// What `Retry-After` says when the backend is away or the disk is busy.
    static let retryAfterSeconds = 5
    /// Milliseconds between two looks at a table that a pull fills, for a client that waits for a page.
    static let fillingPauseMilliseconds = 100
    /// The shortest secret that sign-ins may be sealed with, in bytes.
    static let sealSecretBytes = 32
    /// Bytes of the value of such a field.
    static let forwardedHeaderBytes = 2048
    /// Names of the backend's cookies that are remembered; the oldest goes first.
    static let backendCookies = 200
    /// The longest such name; the cookie of a longer one does not come back to the backend.
    static let backendCookieNameBytes = 256
    /// Fingerprints of tokens that are kept; the oldest goes first.
    static let knownTokens = 20_000
    /// How far a backend's clock may be behind this machine's before a token whose `exp` is over ends.
    static let tokenClockSkewSeconds: Int64 = 300
    /// Seconds after which the backend is asked again whether it takes a token that is in use.
    static let tokenCheckSeconds: Int64 = 3600
    /// Seconds between two such questions about a token, where the first had no clear answer.
    static let tokenRetrySeconds: Int64 = 60
    /// How long a token is taken that the backend does not confirm, unless `--offline-grace` says.
    package static let offlineGraceSeconds: Int64 = 30 * 24 * 3600
    /// Tokens of one identity that its engine may send; of more, the oldest goes first.
    static let tokensPerIdentity = 8
    /// Tokens whose owners are known without hashing them.
    static let recentTokens = 64
    /// Stores that stay open, the anonymous one counted; of more, the one that was not used for longest
    /// closes as soon as nothing uses it.
    static let openStores = 8
    /// Stores that are open at most, while all of them are in use.
    static let openStoresInUse = 32
    /// Seconds that a request waits for a store that is being opened or closed, or for room for it.
    static let storeWaitSeconds: Int64 = 5
    /// Milliseconds between two looks whether it can be opened now.
    static let storePollMilliseconds = 20
    /// Closed stores whose due work is sent at the same time.
    static let dueStores = 4
    /// Seconds between two looks for work of closed stores that is due.
    static let dueLookSeconds: Int64 = 2
    /// Seconds after which a closed store is opened again for work that could not be sent.
    static let dueAgainSeconds: Int64 = 20
    /// Seconds that a client waits for the backend under `write-through` and `remote-first`.
    static let backendWaitSeconds = 5
    /// Tables of which is known whether they want a sign-in.
    static let notedTables = 1000
    /// The longest time that can be asked for to be offline, in seconds: ten years.
    static let offlineSecondsMax: Int64 = 315_360_000
    /// The furthest back that samples go, in seconds.
    static let sampleSecondsMax = 7 * 24 * 3600
    /// The most elements of each list of one request that brings in an export.
    package static let importedOperations = 500
    /// The longest key of an identity, in bytes: 40 of its name, a dash and 24 digits.
    static let identityKeyBytes = 65
    /// Bytes of a file that are read or written at once.
    package static let filePieceBytes = 1 << 16
    /// The longest time between two syncs that can be set, in seconds.
    static let syncIntervalSecondsMax = 86_400
    /// The longest wait of a sync after a write that can be set, in milliseconds.
    static let debounceMillisecondsMax = 60_000
    /// The most attempts that can be set before an operation is refused.
    static let attemptsMax = 1000
}
