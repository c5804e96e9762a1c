import Dispatch
import HTTPServer
import Synchronization

/// An observer that keeps every reported request.
final class RequestWatch: RequestObserver {
    private let watching = Atomic<Bool>(true)
    private let seen = Mutex<[EndedRequest]>([])
    private let arrivals = DispatchSemaphore(value: 0)
    private let taken = Atomic<Int>(0)

    var isWatching: Bool { watching.load(ordering: .relaxed) }
    /// Every request so far, in order.
    var all: [EndedRequest] { seen.withLock { $0 } }

    func look(_ isWatching: Bool) { watching.store(isWatching, ordering: .relaxed) }

    func ended(_ request: EndedRequest) {
        seen.withLock { $0.append(request) }
        arrivals.signal()
    }

    /// Waits for the next request.
    @available(*, noasync)
    func next() -> EndedRequest {
        arrivals.wait()
        return all[taken.wrappingAdd(1, ordering: .relaxed).oldValue]
    }
}
