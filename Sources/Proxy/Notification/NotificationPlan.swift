package import SyncCore

/// What somebody can be told. The raw value is the word of `notify-events`.
package enum NotifiedEvent: String, Codable, Sendable, Hashable, CaseIterable {
    /// An operation came into conflict.
    case conflict
    /// The backend refused an operation.
    case refused
    /// Changes wait although the backend answers, or the backend is away for long.
    case stuck
    /// The changes of an identity wait for its sign-in.
    case signedOut = "signed-out"
    /// There is hardly any room for writes, or none, or a store cannot be written.
    case disk
}

package struct NotificationPlan: Sendable, Hashable {
    /// Where messages go; nil for nowhere.
    package var target: Target?
    package var events = Set(NotifiedEvent.allCases)
    /// Whether messages have texts that may hold values of rows.
    package var hasValues = false

    /// Where messages go.
    package enum Target: Sendable, Hashable {
        /// The address that gets each message by POST.
        case webhook(Webhook)
        /// The absolute path of a program that reads each message from its standard input.
        case command(String)
    }

    /// The plan without messages.
    package init() {}
}

/// The address of a webhook. Its path is a secret: who knows it may post there. So the description leaves it
/// out.
package struct Webhook: Sendable, Hashable, CustomStringConvertible {
    /// Scheme and host.
    let address: BackendAddress
    /// Path and query.
    let target: String

    /// Reads an `https` address, or an `http` one of this machine; nil for anything else, such as an address
    /// with a user or a fragment.
    /// - Parameter isLoopback: whether an address is one of this machine.
    package init?(_ text: String, isLoopback: (BackendAddress) -> Bool) {
        guard let slashes = text.firstRange(of: "://") else { return nil }
        let end = text[slashes.upperBound...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        let rest = text[end...]
        guard let address = BackendAddress(String(text[..<end])),
            rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }),
            address.scheme == "https" || isLoopback(address)
        else { return nil }
        self.address = address
        target = rest.hasPrefix("/") ? String(rest) : "/\(rest)"
    }

    /// Scheme and host.
    package var description: String { address.description }
}
