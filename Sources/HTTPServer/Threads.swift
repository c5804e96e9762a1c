import Glibc
import Synchronization

/// A thread for work that blocks, outside Swift's cooperative pool.
struct DedicatedThread: Sendable {
    private let identifier: pthread_t

    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Starts a thread that runs `body`; nil when the system has no more threads.
    init?(_ body: @escaping @Sendable () -> Void) {
        var identifier = pthread_t()
        // `unsafe`: the work is retained here, and released by its thread, or below without one.
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

    /// Blocks until the thread has ended. Call this or ``detach()``, once.
    func join() { _ = pthread_join(identifier, nil) }

    /// Lets the thread end by itself.
    func detach() { _ = pthread_detach(identifier) }
}

/// Numbers the threads that run the handler: 0 for the first that asks, then 1, and so on.
///
/// A libmicrohttpd thread runs one handler at a time and lives as long as the server, so a number
/// belongs to its thread for that time.
///
/// `unsafe`: the thread-specific value is a number in the form of a pointer, and never dereferenced.
final class Workers: Sendable {
    private let key: pthread_key_t
    private let next = Atomic<Int>(1)

    init() {
        var key = pthread_key_t()
        let result = unsafe pthread_key_create(&key, nil)
        precondition(result == 0, "A process has more keys than servers")
        self.key = key
    }

    deinit { _ = pthread_key_delete(key) }

    /// The number of the calling thread.
    var current: Int {
        let known = unsafe Int(bitPattern: pthread_getspecific(key))
        if known > 0 { return known - 1 }
        let given = next.wrappingAdd(1, ordering: .relaxed).oldValue
        _ = unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: given))
        return given - 1
    }

    /// Whether the calling thread has a number; such a thread must not block.
    var isCurrent: Bool { unsafe pthread_getspecific(key) != nil }
}
