import HTTPMessage
import HTTPTypes
import Logging
import TablesProtocol

// The stream of changes of a backend that has one (docs/PROTOCOL.md). A table that it names is pulled soon
// instead of at the next interval, which goes on beside it.
extension SyncEngine {
    /// Follows the stream while the engine syncs by itself, until the task is cancelled or the engine is retired.
    /// Without a transport of its own for the stream it returns at once.
    ///
    /// 1. Wait until the backend answers, and this identity has a credential.
    /// 2. Ask for the stream. An answer that is none is no verdict about the backend.
    /// 3. Wish for the pulls of the tables that it names, each after a random part of the spread.
    /// 4. After its end wait at random, and begin again.
    public func followChanges() async {
        guard let followingTransport else { return }
        var plan = FollowPlan()
        var address = backend.address
        while !Task.isCancelled, !isRetired {
            _ = followSignal.take()
            if address != backend.address { (plan, address) = (FollowPlan(), backend.address) }
            guard mayFollow else {
                await waitForChanges(until: nil)
                continue
            }
            let credential = credential()
            let end = await follow(by: followingTransport, credential, &plan)
            if followedSince != nil {
                followedSince = nil
                log.info(
                    "changes of the backend are not followed",
                    metadata: ["identity": "\(store.identity)"])
            }
            await wishForPulls(heardChanges.take(now: .seconds(Int64.max)))
            let pause = plan.pause(after: end, random: random)
            let next = pause.map { clock.uptime() + $0 }
            while !Task.isCancelled, !isRetired, address == backend.address, mayFollow,
                credential == self.credential(), next.map({ clock.uptime() < $0 }) ?? true
            {
                _ = followSignal.take()
                await waitForChanges(until: next)
            }
        }
    }

    /// Whether the stream may be asked for. The interval stands for syncing without a request.
    private var mayFollow: Bool {
        guard case .online = scheduler.mode, scheduler.settings.triggers.contains(.interval),
            scheduler.backend.isAsked, scheduler.backend.state == .online, binding == .bound
        else { return false }
        return credential() != .missing
    }

    /// Waits until something has changed here, a piece of the stream has come, or a time is over.
    private func waitForChanges(until deadline: Duration?) async {
        await withTaskGroup(of: Void.self) { [followSignal, clock] group in
            group.addTask { await followSignal.wait() }
            if let deadline { group.addTask { await clock.sleep(until: deadline) } }
            await group.next()
            group.cancelAll()
        }
    }

    /// Asks for the stream, and reads it to its end.
    private func follow(
        by transport: any HTTPTransport, _ credential: Credential, _ plan: inout FollowPlan
    ) async -> FollowPlan.End {
        var remote = remote(credential)
        remote.transport = transport
        let response: Response
        do throws(TransportError) {
            response = try await remote.openChanges()
        } catch {
            return .unavailable(retryAfter: nil)
        }
        let type = response.head.headerFields[.contentType].map { MediaType($0).name }
        guard response.head.status == .ok, type == ChangeStream.mediaType,
            case .stream(let stream) = response.body
        else {
            if case .stream(let stream) = response.body { stream.cancel() }
            let wait = RetryAfter.parse(
                response.head.headerFields[.retryAfter], now: clock.now())
            return plan.end(status: response.head.status.code, retryAfter: wait)
        }
        defer { stream.cancel() }
        plan.began()
        let begun = clock.uptime()
        followedSince = clock.now()
        log.info("changes of the backend are followed", metadata: ["identity": "\(store.identity)"])
        return await read(stream, credential, &plan)
            ? .givenUp : .ended(after: clock.uptime() - begun)
    }

    /// Reads the stream until it ends, or is silent for too long.
    /// - Returns: whether it was given up because something has changed here.
    private func read(
        _ stream: ByteStream, _ credential: Credential, _ plan: inout FollowPlan
    ) async -> Bool {
        var reader = ChangeStreamReader()
        var lastPiece = clock.uptime()
        while !Task.isCancelled, !isRetired, mayFollow, credential == self.credential() {
            await wishForPulls(heardChanges.take(now: clock.uptime()))
            _ = followSignal.take()
            let wake: @Sendable () -> Void = { [followSignal] in followSignal.send(nil) }
            switch stream.read(maxBytes: SyncLimits.changePieceBytes, wake: wake) {
            case .bytes(let bytes):
                lastPiece = clock.uptime()
                guard let events = try? reader.take(bytes) else { return false }
                for event in events { await hear(event, &plan) }
            case .end, .failed: return false
            case .wait:
                let end = lastPiece + .seconds(SyncLimits.followSilenceSeconds)
                guard clock.uptime() < end else { return false }
                await waitForChanges(until: min(end, heardChanges.next ?? end))
            }
        }
        return true
    }

    private func hear(_ event: ChangeEvent, _ plan: inout FollowPlan) async {
        switch event {
        case .spread(let milliseconds): plan.take(spread: milliseconds)
        case .change(let table, let stamp):
            guard await isNews(stamp, of: table) else { return }
            heardChanges.add(table, at: clock.uptime() + plan.pullDelay(random: random))
        case .reset:
            let known = (try? await store.read { try $0.tables.all() }) ?? []
            for table in known.filter({ !$0.pause.stopsPulls }).map(\.name) {
                heardChanges.add(table, at: clock.uptime() + plan.pullDelay(random: random))
            }
        }
    }

    /// Whether a table of this store has changed since its last pull, as far as its latest stamp shows that. One
    /// whose pulls a person has paused has no news.
    private func isNews(_ stamp: Instant?, of name: TableName) async -> Bool {
        let isWanted = settings.tables.contains(name)
        let isNews = try? await store.read { transaction in
            guard let table = try transaction.tables.table(name) else { return isWanted }
            if table.pause.stopsPulls { return false }
            guard let stamp, table.isWholeHere, !table.mustCompare else { return true }
            let pulled = try transaction.tokens.pulledUpTo(table)
            return pulled.map { $0 < stamp } ?? true
        }
        return isNews ?? true
    }

    private func wishForPulls(_ tables: [TableName]) async {
        for table in tables { scheduler.wish(.pull(PullRequest(table: table))) }
        if !tables.isEmpty { signal.send(nil) }
    }
}
