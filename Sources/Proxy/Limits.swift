import SyncCore

/// The limits of the proxy. openapi.json has further ones: those of single values in requests of the operator
/// API.
package enum Limits {
    /// Bytes of the body of a request to `/tables`.
    static let tablesBodyBytes = 1 << 20
    /// Bytes of the body of a request to the operator API. An import has many changes.
    static let operatorBodyBytes = 4 << 20
    /// Bytes of a body that is passed through to the backend, and of the answer to it.
    package static let passedBodyBytes = 100 << 20
    /// Bytes of the head of an answer that is passed through (`answerHeadBytes` of HTTPServer).
    package static let passedHeadBytes = 24 << 10
    // The sum of `concurrentPassedRequests`, `concurrentUploads` and `concurrentSignIns` is less than the
    // server's limit of connections. So a slow backend and slow clients leave connections free for other
    // requests. Requests that wait for a permit are not in the sum: `permitWaitSeconds` bounds them. Streams of
    // events do not count there (`allEventStreams`).

    /// Connections to the backend for requests that are passed through.
    package static let passedConnections = 16
    /// Connections to the backend for its streams of changes: one for each open store.
    package static let followingConnections = openStoresInUse
    /// Connections to the backend for logins and for the verification of tokens.
    package static let signInConnections = 8
    /// Requests without a body that wait for the backend's answer at once.
    static let concurrentPassedRequests = 24
    /// Requests with a body that wait for the backend's answer at once.
    static let concurrentUploads = 16
    /// Further requests with a body that wait for a permit. Each holds at most 1 MiB of its body meanwhile.
    static let queuedUploads = 16
    /// Logins and verifications of tokens at once.
    static let concurrentSignIns = 16
    /// Further logins and verifications that wait for a permit.
    static let queuedSignIns = 84
    /// Seconds between two lines of the log about writes that are refused for the same reason.
    static let refusedWritesSeconds: Int64 = 60
    /// Tables whose requests are counted apart in the metrics.
    static let measuredTables = 50
    /// The bounds of the histograms of clients' requests, in milliseconds.
    static let clientTimeBoundsMilliseconds = [1, 5, 25, 100, 500, 2_500, 10_000]
    /// Seconds that a request waits for a permit.
    static let permitWaitSeconds = 10
    /// Lists over the short budget of a read that run at once, those of all clients together.
    static let longReadsAtOnce = 3
    /// Copies of what each request reads, so that as many server workers do not wait for one another.
    static let workerCopies = 16
    /// The operator's lists that run at once beside them.
    static let operatorReadsAtOnce = 1
    /// Lists over the short budget of a read that wait for one client.
    static let longReadsWaiting = 16
    /// What `Retry-After` says where more would wait, in seconds.
    static let longReadRetrySeconds = 5
    /// Bytes of the body of a login.
    static let loginBodyBytes = 1 << 20
    /// Characters of a refused Host or Origin that are kept.
    static let refusalDetailCharacters = 200
    /// Seconds for which a browser may keep the answer to a preflight.
    static let preflightSeconds = 300
    /// Seconds for which a one-time link is valid.
    static let linkSeconds: Int64 = 30 * 60
    /// Unused one-time links at once; a new one replaces the oldest.
    static let links = 20
    /// Seconds for which a session of the dashboard is valid.
    static let sessionSeconds: Int64 = 30 * 24 * 3600
    /// Characters of a browser's `User-Agent` that are kept.
    static let browserNameCharacters = 200
    /// Bytes of the name of a capability address.
    static let capabilityNameBytes = 40
    /// The shortest run of letters, digits, `-` and `_` in a path below `/c/` that may be a secret, in bytes.
    /// The secrets that this program makes have 43.
    static let capabilitySecretBytes = 22
    /// Sessions at once; a new one replaces the oldest.
    static let sessions = 50
    /// Bytes of a client's `tracestate` that are sent on (W3C Trace Context, section 3.3.1.5: at least 512).
    static let traceStateBytes = 512
    /// Elements of a page of a list without `limit`.
    static let pageElements = 50
    /// The greatest `limit` of a page of a list.
    package static let pageElementsMax = 500
    /// The greatest `top` of a page of rows.
    package static let pageRowsMax = 1000
    /// A place in a list that is behind all rows of a table.
    static let placeBeyondRows = 1 << 30
    /// Seconds that `POST …/sync` waits for the end of the run without `wait`.
    static let waitSeconds = 10
    /// The greatest `wait`, in seconds.
    static let waitSecondsMax = 60
    /// Seconds between two comment lines of an event stream.
    static let eventHeartbeatSeconds: Int64 = 15
    /// Milliseconds after which a browser opens an event stream again that broke off.
    static let eventRetryMilliseconds = 1000
    /// Milliseconds for which a test write to the stores proves that they can be written.
    static let readinessMilliseconds: Int64 = 1000
    /// Event streams of the operator API open at once.
    static let eventStreams = 32
    /// Whole lists that are written at once.
    static let exportsAtOnce = 4
    /// Elements of such a list that are read at once.
    static let exportedElements = StoreLimits.operatorPage
    /// Bytes of such a list that are handed over at once.
    static let exportedPieceBytes = 1 << 16
    /// Clients that follow the stream of changes at once.
    static let changeFollowers = 64
    /// The streams of events of the server, which do not count in its limit of connections.
    package static let allEventStreams = eventStreams + changeFollowers
    /// Bytes of the stream of changes that a client may leave unread.
    static let changeBytes = 32 << 10
    /// Milliseconds for which changes are gathered before clients are told.
    static let changeGatherMilliseconds = 50
    /// Seconds that `Retry-After` says while a list waits for a table's first pull. The operator's list of
    /// rows waits as long for that pull.
    static let firstPullSeconds = 5
    /// Seconds that `Retry-After` says when the backend cannot be reached or a store cannot be used.
    static let retryAfterSeconds = 5
    /// Milliseconds between two reads of a table during its first pull, for a client that waits for a page.
    static let firstPullPollMilliseconds = 100
    /// Bytes of the value of a header field that is forwarded to the backend.
    static let forwardedHeaderBytes = 2048
    /// Names of the backend's cookies that are remembered; a new one replaces the oldest.
    static let backendCookies = 200
    /// Bytes of the name of a backend's cookie. The cookie of a longer name is not sent to the backend.
    static let backendCookieNameBytes = 256
    /// Fingerprints of tokens that are kept; a new one replaces the oldest.
    static let knownTokens = 20_000
    /// Seconds after its `exp` for which a token is not yet expired, since the backend's clock may be behind.
    static let tokenClockSkewSeconds: Int64 = 300
    /// Seconds after which the backend is asked again whether it accepts a token that is in use.
    static let tokenCheckSeconds: Int64 = 3600
    /// Seconds until a token is verified again after an answer of the backend that was not clear.
    static let tokenRetrySeconds: Int64 = 60
    /// Seconds for which a token is accepted that the backend does not confirm, without `--offline-grace`.
    package static let offlineGraceSeconds: Int64 = 30 * 24 * 3600
    /// Tokens of one identity that its engine may send; a new one replaces the oldest.
    static let tokensPerIdentity = 8
    /// Tokens whose fingerprints are kept in memory, so that they are not hashed for each request.
    static let recentTokens = 64
    /// Stores that stay open, the anonymous one included. While more are open, the least recently used one is
    /// closed as soon as it is not in use.
    static let openStores = 8
    /// Stores that may be open at once while all of them are in use.
    static let openStoresInUse = 32
    /// Seconds that a request waits for its store to be opened or closed, or for another store to be closed.
    static let storeWaitSeconds: Int64 = 5
    /// Milliseconds between two attempts to open such a store.
    static let storePollMilliseconds = 20
    /// Closed stores whose due work is sent at once.
    static let concurrentDueStores = 4
    /// Seconds between two searches for due work of closed stores.
    static let duePollSeconds: Int64 = 2
    /// Seconds after which a closed store is opened again for work that could not be sent.
    static let dueRetrySeconds: Int64 = 20
    /// Seconds that a client waits for the backend under `write-through` and `remote-first`.
    static let backendWaitSeconds = 5
    /// Milliseconds that a write waits for its outcome, so that its client is answered within 5 s.
    static let writeWaitMilliseconds = 4_500
    /// Seconds that a list waits for the pull that its client means by it.
    static let pullWaitSeconds = 2
    /// Milliseconds after which the same list from the same client is not a repeated one any more.
    static let repeatedListMilliseconds: Int64 = 10_000
    /// Milliseconds within which a client that asks for the same list again and again polls.
    static let pollMilliseconds: Int64 = 1_000
    /// Milliseconds after which the time of a repeated list is noted again.
    static let notedMilliseconds: Int64 = 100
    /// Lists that are remembered, to know a repeated one.
    static let repeatedLists = 1024
    /// Tables of an identity that are remembered as used, and for how many seconds they are.
    static let usedTables = 20
    static let tableUseSeconds: Int64 = 600
    /// Seconds that a request to a custom API waits for the client's changes to be sent.
    static let apiPushSeconds = 5
    /// Pushes that it waits for in that time.
    static let apiPushes = 3
    /// Milliseconds after the answer of a custom API for which reads wait for the pulls that follow it.
    static let apiWaitMilliseconds: Int64 = 5_000
    /// Tables of which is remembered whether they need a sign-in.
    static let signInNotes = 1000
    /// Seconds back of the samples without `sinceSeconds`.
    static let sampleSeconds = 3600
    /// The greatest `sinceSeconds` of samples, in seconds.
    static let sampleSecondsMax = 7 * 24 * 3600
    /// The shortest `stepSeconds` of samples, and its default, in seconds.
    static let sampleStepSeconds = 60
    /// The greatest `stepSeconds` of samples, in seconds.
    static let sampleStepSecondsMax = 24 * 3600
    /// Operations whose outcomes are asked for in one request.
    static let askedOperations = 5000
    /// Operations whose decisions are undone in one request.
    static let undoneDecisions = 500
    /// Seconds for which a decision can be held back.
    static let holdSecondsMax = 60
    /// Seconds after which offline mode may end by itself.
    static let offlineSecondsMax = 315_360_000
    /// Elements of each list of one import request.
    package static let importedOperations = 500
    /// Bytes of the readable beginning of an identity's key.
    static let identityNameBytes = 40
    /// Digits of the hash at the end of an identity's key.
    static let identityHashDigits = 24
    /// Digits of the digest in the entity tag of a file of the dashboard.
    static let entityTagDigits = 24
    /// Bytes of the longest key of an identity: its name, a dash and its hash.
    static let identityKeyBytes = identityNameBytes + 1 + identityHashDigits
    /// The stores that a warning names.
    static let namedStores = 5
    /// The greatest time between two syncs that can be set, in seconds.
    static let syncIntervalSecondsMax = 86_400
    /// The greatest delay of a sync after a write that can be set, in milliseconds.
    static let debounceMillisecondsMax = 60_000
    /// The greatest number of attempts before an operation is refused that can be set.
    static let attemptsMax = 1000
    /// Bytes of the manifest of a backup: 10,000 identities take one of its sixteen million.
    static let manifestBytes = 16 << 20
    /// Bytes of the file `policies` of a backup; those that a configuration names take some kilobytes.
    static let policiesBytes = 4 << 20
    /// The greatest number of kept backups that can be set, and the default.
    package static let backupsKeptMax = 1000
    package static let backupsKept = 7
    /// The least and the greatest time between two automatic backups, in hours.
    package static let backupHours: ClosedRange<Int64> = 1...(366 * 24)
    /// Seconds after which a backup that failed is tried again.
    static let backupRetrySeconds: Int64 = 600
    /// Seconds between two checks whether a backup is due.
    static let backupLookSeconds: Int64 = 20
    /// Seconds after which an unfinished backup was left by a process that ended, and is removed.
    static let unfinishedBackupSeconds: Int64 = 86_400
    /// Seconds between two looks whether a webhook has to be told, which are the least between two messages.
    static let notificationSeconds: Int64 = 60
    /// Seconds after which a message is repeated while a person is still needed.
    static let reminderSeconds: Int64 = 86_400
    /// Seconds for which changes wait for a sign-in before that is told.
    static let signInNeededSeconds: Int64 = 3600
    /// Tables that a message names.
    static let toldTables = 50
    /// Seconds that a webhook has for one message.
    package static let webhookSeconds = 20
    /// Bytes of a webhook's answer, which is not read.
    package static let webhookAnswerBytes = 64 << 10
}
