import Dispatch
import SyncCore
import Synchronization

/// The lists that go over the short budget of a read, one at a time on a thread of their own.
///
/// A client has one under way at most. Its next one comes after those of the other clients that wait.
final class LongReads: Sendable {
    /// Whose turn it is. All programs of a machine share the loopback address, so what tells clients
    /// apart is their identity, and the name of the address of their own where they have one.
    struct Client: Hashable, Sendable {
        let identity: String
        let actor: Actor
    }

    /// Why a client is sent away.
    static let tooMany =
        "Too many lists that need much work wait for this client; wait for their answers first."

    private struct State {
        var line = FairLine<Client, @Sendable () -> Void>(limitPerClient: Limits.longReadsWaiting)
        var isBusy = false
    }
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "understudy.long-reads")

    /// Runs `body` when it is the client's turn.
    /// - Returns: false, and nothing will run, where the client has too many that wait.
    func run(for client: Client, _ body: @escaping @Sendable () -> Void) -> Bool {
        let (isTaken, begins) = state.withLock { state -> (Bool, Bool) in
            guard state.line.join(client, body) else { return (false, false) }
            defer { state.isBusy = true }
            return (true, !state.isBusy)
        }
        if begins { queue.async { [self] in work() } }
        return isTaken
    }

    /// Runs one after the other until none waits.
    private func work() {
        while let body = next() { body() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            let body = state.line.next()
            state.isBusy = body != nil
            return body
        }
    }
}
