import HTTPMessage
import Synchronization

/// What callers leave for the loop's thread, in order.
final class Mailbox: Sendable {
    /// What the loop is asked to do.
    enum Letter: Sendable {
        case send(Ticket)
        case cancel(id: UInt64)
        /// There is room again for the body of a transfer that was paused.
        case resume(id: UInt64)
    }
    private enum Phase {
        /// The loop runs and takes letters.
        case open(MultiHandle)
        /// The loop has been asked to end: it fails what is under way and frees its handle.
        case closed
    }
    private struct State {
        var phase: Phase
        var letters: [Letter] = []
        var lastID: UInt64 = 0
    }
    private let state: Mutex<State>
    /// The life of the loop's thread; whoever stops waits for its end.
    let thread = ThreadLife()

    init(_ multi: MultiHandle) {
        state = Mutex(State(phase: .open(multi)))
    }

    /// A number that no other call of this transport has.
    func nextID() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    /// Leaves a letter and wakes the loop. Returns false, leaving nothing, once it is ending.
    /// The wake-up is one non-blocking write to a socket pair, so it may stand under the lock, and
    /// must: it keeps the handle from being freed meanwhile.
    func leave(_ letter: Letter) -> Bool {
        state.withLock { state in
            guard case .open(let multi) = state.phase else { return false }
            state.letters.append(letter)
            if state.letters.count == 1 { multi.wake() }
            return true
        }
    }

    /// Asks the loop to end. Nothing happens when it was asked before.
    func close() {
        state.withLock { state in
            guard case .open(let multi) = state.phase else { return }
            multi.wake()
            state.phase = .closed
        }
    }

    /// For the loop: all letters, in order, and whether it is to go on.
    func take() -> (letters: [Letter], goesOn: Bool) {
        state.withLock { state in
            defer { state.letters = [] }
            switch state.phase {
            case .open: return (state.letters, true)
            case .closed: return (state.letters, false)
            }
        }
    }
}
