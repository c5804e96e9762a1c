import HTTPMessage
import HTTPTypes
import Platform
import SyncCore
import Synchronization
import TablesProtocol

/// The names of the clients' header fields that are forwarded to the backend: with an operation, and with a
/// read that the backend answers. A reload of the settings replaces them.
final class ForwardedHeaders: Sendable {
    private let names: WorkerCopies<[ForwardableName]>

    init(_ names: [ForwardableName] = []) { self.names = WorkerCopies(names) }

    /// Forwards fields with these names from the next request on.
    func replace(with names: [ForwardableName]) { self.names.replace(with: names) }

    /// The fields of a request that are forwarded, in the order of the names, with all values of each.
    /// - Parameter worker: the calling server worker.
    func pick(from fields: HTTPFields, worker: Int) -> HTTPFields {
        Self.pick(names.value(of: worker), from: fields)
    }

    /// The first forwarded field with more than ``Limits/forwardedHeaderBytes``; nil if there is none.
    func tooLong(in fields: HTTPFields, worker: Int) -> HTTPField? {
        pick(from: fields, worker: worker).first {
            $0.value.utf8.count > Limits.forwardedHeaderBytes
        }
    }

    static func pick(_ names: [ForwardableName], from fields: HTTPFields) -> HTTPFields {
        var picked = HTTPFields()
        for name in names where fields.contains(name.name) {
            picked[fields: name.name] = fields[fields: name.name]
        }
        return picked
    }
}

extension Trace {
    /// The trace in a client's fields. `tracestate` belongs to a valid `traceparent` alone; without one it is
    /// left out (section 4.3).
    init?(_ fields: HTTPFields) {
        guard let parent = fields[.traceparent] else { return nil }
        let state = TraceParent(parent) == nil ? nil : fields[.tracestate]
        self.init(parent: parent, state: state.flatMap { Self.cut($0) })
    }

    /// The first members of the list that fit in ``Limits/traceStateBytes``, each whole; nil if none fits.
    private static func cut(_ state: String) -> String? {
        if state.utf8.count <= Limits.traceStateBytes { return state.isEmpty ? nil : state }
        let members = state.split(separator: ",")
        var kept = members.prefix(0)
        var bytes = -1
        for member in members {
            bytes += member.utf8.count + 1
            if bytes > Limits.traceStateBytes { break }
            kept = members.prefix(kept.count + 1)
        }
        return kept.isEmpty ? nil : kept.joined(separator: ",")
    }
}
