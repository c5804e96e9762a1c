import HTTPTypes
import SyncCore
import Synchronization
import TablesProtocol

/// The changes that were written without a sign-in, where the backend refuses such writes with 401.
struct UnsignedChanges: Sendable, Hashable {
    let operations: Int
    /// The only user whom this proxy has seen since the first of them; nil if there was none, or several.
    let user: String?

    /// What a person is told.
    var sentence: String {
        let changes = operations == 1 ? "1 change was" : "\(operations) changes were"
        let advice =
            user.map {
                "The only user here since is \($0): `understudy queue assign --identity \($0)` gives them "
                    + "to that user."
            } ?? "They can be given to a user who is the only one here since."
        return
            "\(changes) written without a sign-in, which the backend refuses, and stay here. \(advice)"
    }
}

extension TenantRegistry {
    /// The changes that wait for a sign-in; nil without any, and where no user was ever here.
    func unsigned() async -> UnsignedChanges? {
        guard identities.count > 1,
            let waiting = try? await anonymous.store.unsigned(all: await isAnonymousRefused)
        else { return nil }
        return UnsignedChanges(
            operations: waiting.count, user: onlyUser(since: waiting.since))
    }

    /// Whether every table that was asked for wants a sign-in.
    private var isAnonymousRefused: Bool {
        get async { await anonymous.engine.backendStatus.state == .signedOut }
    }

    /// The user who is the only one with a token here since a time; nil if there was none, or several. A token
    /// in use is confirmed once an hour, so one that was confirmed shortly before may have been used since.
    private func onlyUser(since time: Instant) -> String? {
        var users = tokens.owners(since: time.adding(seconds: -Limits.tokenCheckSeconds))
        users.formUnion(
            tenantStates.withLock { states in
                states.filter { $0.value.signIn.credential != .missing }.keys
            })
        return users.count == 1 ? users.first : nil
    }

    /// Gives the changes to a user, or takes back those of the last time that were not sent.
    /// - Returns: how many there are, and how many the other store takes as it takes a client's writes.
    /// - Throws: ``Problem`` if the user is not the only one since; ``StartProblem``, ``StoreError``.
    func assign(
        to user: String, isUndone: Bool, isDryRun: Bool
    ) async throws -> (matched: Int, taken: Int) {
        guard await handovers.take() else { return (0, 0) }
        defer { handovers.release() }
        try await finishHandovers()
        let isUser = isUndone ? knows(user) : await unsigned()?.user == user
        guard isUser, user != anonymous.identity else { throw Problem.notTheOnlyUser(user) }
        let tenant = try await open(user)
        let (giver, taker) = isUndone ? (tenant, anonymous) : (anonymous, tenant)
        let counts = try await giver.store.handOver(
            isUndone ? .brought : .unsigned(all: await isAnonymousRefused), to: taker.store,
            noting: anonymous.store, isDryRun: isDryRun)
        try await finishHandovers()
        return counts
    }

    /// Finishes a handover that was begun, also by an earlier process.
    private func finishHandovers() async throws {
        guard let user = try await anonymous.store.handoverPartner() else { return }
        let tenant = try await open(user)
        try await anonymous.store.finishHandovers(with: tenant.store)
    }

    /// Finishes what a crash has cut, and gives the changes by itself where the settings say so. What fails is
    /// tried again at the next turn.
    func handOver() async {
        if await handovers.take() {
            try? await finishHandovers()
            handovers.release()
        }
        guard adoptsUnsigned, let found = await unsigned(), let user = found.user else { return }
        // What the user's store did not take is not tried without end.
        guard adopted.withLock({ $0 }) != found,
            (try? await assign(to: user, isUndone: false, isDryRun: false)) != nil
        else { return }
        adopted.withLock { $0 = found }
    }
}

extension Problem {
    fileprivate static func notTheOnlyUser(_ user: String) -> Problem {
        Problem(
            status: .conflict, code: "refused",
            detail:
                "What was written without a sign-in cannot be given to \(user): nothing waits so, or "
                + "\(user) is not the only user here since. To bring changes to another user: "
                + "understudy export --only queue, then understudy import --identity USER.")
    }
}
