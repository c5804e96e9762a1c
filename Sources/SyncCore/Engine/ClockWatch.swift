import Logging
import TablesProtocol

/// Compares the wall clock with the uptime.
final class ClockWatch: InEngine {
    private let backend: KnownBackend
    /// Both clocks at the last comparison; nil before the first.
    private var lastReading: (wall: Instant, uptime: Duration)?

    init(_ backend: KnownBackend) { self.backend = backend }

    var context: EngineContext { backend.context }

    /// Detects that the wall clock was set. Times of next attempts are wall times: if the clock was set
    /// back, also while no engine ran, they would be too far away, so every waiting operation is due now. If
    /// it went ahead, the machine may have slept and changed its network, so a backend that was out of reach
    /// is tried now.
    func detectJump() async {
        let (wall, uptime) = (clock.now(), clock.uptime())
        let last = lastReading
        lastReading = (wall, uptime)
        if let last {
            let expected = last.wall.advanced(by: uptime - last.uptime)
            if wall > expected.advanced(by: .seconds(SyncLimits.clockSlackSeconds)) {
                log.notice("the clock went ahead; the backend is looked for")
                signal.send(.reachable)
                return
            }
        }
        let behind = wall.advanced(by: .seconds(SyncLimits.clockSlackSeconds))
        if let last, behind >= last.wall.advanced(by: uptime - last.uptime) { return }
        do {
            if last == nil,
                try await !store.read({ try $0.dueOperations.hasAttempts(after: behind) })
            {
                return
            }
            log.notice("the clock was set back; all that waits is due")
            backend.notBefore = nil
            try await store.write { transaction in
                try transaction.dueOperations.forgetTimes()
                try transaction.binding.setNotBefore(nil)
            }
        } catch {
            log.warning("waiting operations not woken", metadata: ["error": "\(error)"])
        }
    }
}
