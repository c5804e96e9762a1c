import Glibc

/// A thread for work that blocks, outside Swift's cooperative pool.
struct OwnThread: Sendable {
    private let identifier: pthread_t

    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Starts a thread that runs `body`; nil when the system has none to give.
    init?(_ body: @escaping @Sendable () -> Void) {
        var identifier = pthread_t()
        // Retained here, released by the thread that runs it, or below when there is none.
        let work = unsafe Unmanaged.passRetained(Work(body))
        let result = unsafe pthread_create(
            &identifier, nil,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, work.toOpaque())
        guard result == 0 else {
            unsafe work.release()
            return nil
        }
        self.identifier = identifier
    }

    /// Waits until the thread has ended. To be called once, or ``detach()`` instead.
    func join() { _ = pthread_join(identifier, nil) }

    /// Lets the thread end by itself.
    func detach() { _ = pthread_detach(identifier) }
}
