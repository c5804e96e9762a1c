import Glibc
import Synchronization

/// Numbers the threads that run the handler: 0 for the first that asks, then 1, and so on.
///
/// A libmicrohttpd thread runs one handler at a time and lives as long as the server, so a number
/// belongs to its thread for that time.
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

    /// Whether the calling thread has a number, so is one that must not wait.
    var isCurrent: Bool { unsafe pthread_getspecific(key) != nil }
}
