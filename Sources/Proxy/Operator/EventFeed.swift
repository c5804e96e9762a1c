import HTTPMessage
import HTTPTypes
import SyncCore
import Synchronization
import TablesProtocol

/// Tells open pages what happened, as server-sent events. Every event is in the store already; a page
/// that was not connected reads from there what it missed.
final class EventFeed: Sendable {
    private struct State {
        var streams: [Int: Listener] = [:]
        var nextID = 0
        var isClosed = false
    }
    private struct Listener {
        let identity: String
        let stream: ByteStream
        /// Whether the listener is still authorized; asked before each thing that is sent.
        let isAuthorized: @Sendable () -> Bool
        /// Events that were committed while those before them are still read from the store.
        var held: [Event]?
        var lastID: Int64
    }

    private let state = Mutex(State())

    /// Opens a stream for the events of an identity; nil when there are too many. It ends when
    /// `isAuthorized` says no.
    /// What is committed from now on is held until ``release(_:missed:)``.
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

    /// Sends what a listener missed, then what was held meanwhile, then everything as it comes.
    func release(_ id: Int, missed: EventBatch?) {
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

    /// Sends committed events on.
    func publish(_ events: [Event]) {
        endForbidden()
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

    /// Sends a comment line to every page, so that nothing between takes the connection for dead.
    func beat() {
        endForbidden()
        let streams = state.withLock { $0.streams }
        for (id, listener) in streams where !listener.stream.write(Array(": \n\n".utf8)) {
            close(id)
        }
    }

    /// Ends the streams of callers that are not authorized any more.
    func endForbidden() {
        let forbidden = state.withLock { state in
            let forbidden = state.streams.filter { !$0.value.isAuthorized() }
            for id in forbidden.keys { state.streams[id] = nil }
            return forbidden
        }
        for listener in forbidden.values { listener.stream.finish() }
    }

    /// Ends all streams; none is opened any more.
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

    /// Events have ids that only grow, so what was sent before is told apart by its id.
    private static func send(_ events: [Event], to listener: inout Listener) {
        var bytes: [UInt8] = []
        for event in events where event.id > listener.lastID {
            listener.lastID = event.id
            bytes += "id: \(event.id)\nevent: \(event.kind.rawValue)\ndata: ".utf8
            bytes += JSONValue.event(event).text.utf8
            bytes += "\n\n".utf8
        }
        // A reader that is too far behind is cut off; it comes back with its last id.
        if !bytes.isEmpty, !listener.stream.write(bytes) { listener.stream.finish() }
    }

    private static func reset(_ id: Int64, identity: String) -> [UInt8] {
        let data = JSONValue.members(
            ("id", .number(id)), ("identity", .string(identity)), ("table", .null),
            ("itemId", .null), ("opId", .null))
        return Array("id: \(id)\nevent: reset\ndata: \(data.text)\n\n".utf8)
    }
}

// Server-sent events.
extension OperatorAPI {
    func events(_ call: OperatorCall) throws(Problem) -> Response {
        let identity = try identity(call)
        let given = call.request.head.headerFields[.lastEventID] ?? call.query["lastEventId"]
        let after: Int64?
        if let given, !given.isEmpty {
            // An id that is none of ours is as good as one that is too old.
            after = Int64(given) ?? 0
        } else {
            after = nil
        }
        guard let caller = access.caller(call.request) else {
            throw Self.signInRequired("Sign in first.")
        }
        let opened = feed.open(identity: identity) { [access] in access.isAuthorized(caller) }
        guard let (id, stream) = opened else {
            throw .unavailable("Too many event streams are open.")
        }
        stream.write(Array("retry: 1000\n\n".utf8))
        work.start {
            var missed: EventBatch?
            // What comes later is led here by the store whenever it is open.
            if let after, let tenant = try? await tenants.open(identity) {
                missed = try? await tenant.store.events(after: after, limit: StoreLimits.events)
            }
            feed.release(id, missed: missed)
        }
        let fields: HTTPFields = [
            .contentType: "text/event-stream", .cacheControl: "no-store",
            .xContentTypeOptions: "nosniff",
        ]
        return Response(head: HTTPResponse(status: .ok, headerFields: fields), stream: stream)
    }
}
