import HTTPMessage
import HTTPTypes
import SyncCore
import Synchronization
import TablesProtocol

/// Sends the stores' events to connected pages, as server-sent events. The store keeps the events; a page
/// that was not connected gets the missed ones from there.
final class EventFeed: Sendable {
    private struct State {
        var streams: [Int: Listener] = [:]
        var nextID = 0
        var isClosed = false
    }
    private struct Listener {
        let identity: String
        let stream: ByteStream
        /// Whether the listener is still authorized; read before anything is sent.
        let isAuthorized: @Sendable () -> Bool
        /// Events that were committed while the missed ones are read from the store; nil afterwards.
        var held: [Event]?
        var lastID: Int64
    }

    private let state = Mutex(State())

    /// Opens a stream for the events of an identity. It ends when `isAuthorized` returns false. Events that
    /// are committed from now on are held until ``startSending(_:missed:)``.
    /// - Returns: the stream with its id; nil when ``Limits/eventStreams`` are open, or the feed is closed.
    func open(
        identity: String, isAuthorized: @escaping @Sendable () -> Bool = { true }
    ) -> (id: Int, stream: ByteStream)? {
        let stream = ByteStream()
        let id: Int? = state.withLock { state in
            guard !state.isClosed, state.streams.count < Limits.eventStreams else { return nil }
            state.nextID += 1
            state.streams[state.nextID] = Listener(
                identity: identity, stream: stream, isAuthorized: isAuthorized, held: [], lastID: 0)
            return state.nextID
        }
        guard let id else { return nil }
        stream.onCancel { [weak self] in self?.close(id) }
        return (id, stream)
    }

    /// Sends the missed events, then the held ones. Later events are sent when they are published.
    func startSending(_ id: Int, missed: EventBatch?) {
        state.withLock { state in
            guard var listener = state.streams[id] else { return }
            var events: [Event] = []
            switch missed {
            case .events(let batch): events = batch
            case .reset(let latest):
                listener.stream.write(Self.reset(latest, identity: listener.identity))
                listener.lastID = latest
            case nil: break
            }
            events += listener.held ?? []
            listener.held = nil
            Self.send(events, to: &listener)
            state.streams[id] = listener
        }
    }

    /// Sends committed events to the listeners of their identity.
    func publish(_ events: [Event]) {
        closeUnauthorized()
        state.withLock { state in
            for id in state.streams.keys {
                guard var listener = state.streams[id] else { continue }
                let own = events.filter { $0.identity == listener.identity }
                if listener.held != nil {
                    listener.held?.append(contentsOf: own)
                } else {
                    Self.send(own, to: &listener)
                }
                state.streams[id] = listener
            }
        }
    }

    /// Sends a comment line to every listener, so that no proxy on the way closes an idle connection.
    func sendHeartbeat() {
        closeUnauthorized()
        let streams = state.withLock { $0.streams }
        for (id, listener) in streams where !listener.stream.write(Array(": \n\n".utf8)) {
            close(id)
        }
    }

    /// Ends the streams of callers that are not authorized any more.
    func closeUnauthorized() {
        let unauthorized = state.withLock { state in
            let unauthorized = state.streams.filter { !$0.value.isAuthorized() }
            for id in unauthorized.keys { state.streams[id] = nil }
            return unauthorized
        }
        for listener in unauthorized.values { listener.stream.finish() }
    }

    /// Ends all streams and refuses new ones.
    func closeAll() {
        let streams = state.withLock { state in
            state.isClosed = true
            defer { state.streams = [:] }
            return state.streams
        }
        for listener in streams.values { listener.stream.finish() }
    }

    private func close(_ id: Int) {
        let listener = state.withLock { $0.streams.removeValue(forKey: id) }
        listener?.stream.finish()
    }

    /// Sends the events after the last one that was sent. The ids of events only grow.
    private static func send(_ events: [Event], to listener: inout Listener) {
        var bytes: [UInt8] = []
        for event in events where event.id > listener.lastID {
            listener.lastID = event.id
            bytes += "id: \(event.id)\nevent: \(event.kind.rawValue)\ndata: ".utf8
            bytes += JSONValue(answer: Answers.EventData(event)).text.utf8
            bytes += "\n\n".utf8
        }
        // A full stream is ended; its page connects again with the last id.
        if !bytes.isEmpty, !listener.stream.write(bytes) { listener.stream.finish() }
    }

    private static func reset(_ id: Int64, identity: String) -> [UInt8] {
        let data = JSONValue(
            answer: Answers.EventData(
                id: id, identity: identity, table: nil, itemId: nil, opId: nil))
        return Array("id: \(id)\nevent: reset\ndata: \(data.text)\n\n".utf8)
    }
}

/// Server-sent events.
struct EventRoutes: Sendable {
    let tenants: TenantRegistry
    let access: OperatorAccess
    let feed: EventFeed
    let work: BackgroundWork

    static let events = Route<Response>(
        .get, "/events", "events", .status, "Server-sent events",
        answers:
            "`event:` is `item`, `operation`, `run`, `status`, `conflict` or `reset`; `data:` is an EventData. A "
            + "comment line every 15 s keeps the connection open.",
        query: [lastEventID], headers: [lastEventIDHeader], media: "text/event-stream",
        example:
            "id: 41\nevent: operation\ndata: {\"id\":41,\"identity\":\"anonymous\",\"table\":\"todoitem\","
            + "\"itemId\":\"a1\",\"opId\":\"6f0c…\"}\n\n")

    var routes: [OperatorRoute] { [.now(Self.events, events)] }

    private static let lastEventIDHeader = Field<String>(
        "Last-Event-ID", .anyText,
        "The last id seen; what came after it is sent first. Too old: `reset`.")
    private static let lastEventID = Field<String>(
        "lastEventId", .anyText, "The same as the header.")

    private func events(_ call: OperatorCall) throws -> Response {
        let identity = try tenants.identity(of: call)
        let given = call.request.head.headerFields[.lastEventID] ?? call.query[Self.lastEventID]
        // A text that is no id counts as an id that is too old.
        let after = given.flatMap { $0.isEmpty ? nil : Int64($0) ?? 0 }
        let caller = try access.known(call)
        let opened = feed.open(identity: identity) { [access] in access.isAuthorized(caller) }
        guard let (id, stream) = opened else {
            throw Problem.unavailable("Too many event streams are open.")
        }
        stream.write(Array("retry: \(Limits.eventRetryMilliseconds)\n\n".utf8))
        work.start { [feed, tenants] in
            var missed: EventBatch?
            // The store publishes later events to the feed whenever it is open.
            if let after, let tenant = try? await tenants.open(identity) {
                missed = try? await tenant.store.lists.events(
                    after: after, limit: StoreLimits.events)
            }
            feed.startSending(id, missed: missed)
        }
        let fields: HTTPFields = [
            .contentType: "text/event-stream", .cacheControl: "no-store",
            .xContentTypeOptions: "nosniff",
        ]
        return Response(head: HTTPResponse(status: .ok, headerFields: fields), stream: stream)
    }
}
