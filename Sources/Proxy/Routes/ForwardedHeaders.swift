import HTTPTypes
import SyncCore
import Synchronization

/// The header fields of clients that are sent on to the backend, with a write for as long as it waits
/// and with a read that the backend answers. A reload of the settings replaces the list.
final class ForwardedHeaders: Sendable {
    private let names: Mutex<[ForwardableName]>

    /// Sends on fields with these names.
    init(_ names: [ForwardableName] = []) { self.names = Mutex(names) }

    /// Sends on fields with these names from the next request on.
    func replace(with names: [ForwardableName]) { self.names.withLock { $0 = names } }

    /// The fields of a request that are sent on, in the order of the list, each value of each.
    func pick(from fields: HTTPFields) -> HTTPFields {
        Self.pick(names.withLock { $0 }, from: fields)
    }

    /// The first field that is to be sent on and has more than ``Limits/forwardedHeaderBytes``; nil for
    /// none.
    func tooLong(in fields: HTTPFields) -> HTTPField? {
        pick(from: fields).first { $0.value.utf8.count > Limits.forwardedHeaderBytes }
    }

    static func pick(_ names: [ForwardableName], from fields: HTTPFields) -> HTTPFields {
        var picked = HTTPFields()
        for name in names where fields.contains(name.name) {
            picked[fields: name.name] = fields[fields: name.name]
        }
        return picked
    }
}
