private import CMicroHTTPD
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

/// An epoll set: descriptors with a token each.
///
/// `unsafe`: epoll gets a struct or an array that lives until the call returns, and the array's true length.
/// It copies the struct. Of `data` only `u64` is written and read.
struct EventSet: Sendable {
    /// The event that makes a descriptor ready.
    enum Interest {
        /// Input; reported while there is some.
        case input
        /// More input, or that the peer closed its side; reported once each time.
        case arrival
        /// The peer closed its side; reported once.
        case hangUp
        /// Never.
        case none
    }
    private let descriptor: CInt

    /// Makes an empty set, owned until ``close()``; nil when the system has no descriptor left.
    init?() {
        descriptor = epoll_create1(CInt(EPOLL_CLOEXEC))
        if descriptor < 0 { return nil }
    }

    func close() { _ = Glibc.close(descriptor) }

    func add(_ member: CInt, _ interest: Interest, token: UInt64) {
        control(EPOLL_CTL_ADD, member, interest, token)
    }

    func change(_ member: CInt, _ interest: Interest, token: UInt64) {
        control(EPOLL_CTL_MOD, member, interest, token)
    }

    func remove(_ member: CInt) { control(EPOLL_CTL_DEL, member, .none, 0) }

    /// Waits for members that are ready; no time-out when `milliseconds` is negative.
    @available(*, noasync)
    func wait(milliseconds: Int) -> [UInt64] {
        var events = unsafe [epoll_event](repeating: epoll_event(), count: Limits.eventsAtOnce)
        let count = unsafe epoll_wait(
            descriptor, &events, CInt(events.count), CInt(milliseconds))
        return unsafe events.prefix(max(0, Int(count))).map { unsafe $0.data.u64 }
    }

    private func control(
        _ operation: CInt, _ member: CInt, _ interest: Interest, _ token: UInt64
    ) {
        let events =
            switch interest {
            case .input: EPOLLIN.rawValue
            case .arrival: EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
            case .hangUp: EPOLLRDHUP.rawValue | EPOLLET.rawValue
            case .none: UInt32(0)
            }
        var event = unsafe epoll_event(events: events, data: epoll_data_t(u64: token))
        _ = unsafe epoll_ctl(descriptor, operation, member, &event)
    }
}

/// An eventfd that wakes a waiting thread: signalled from any thread, waited for by one.
///
/// `unsafe`: both calls write to one struct, which lives until they return.
struct Wakeup: Sendable {
    let descriptor: CInt

    /// Makes one without a signal, owned until ``close()``; nil when the system has no descriptor left.
    init?() {
        descriptor = eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK))
        if descriptor < 0 { return nil }
    }

    func close() { _ = Glibc.close(descriptor) }

    func signal() { _ = eventfd_write(descriptor, 1) }

    func clear() {
        var count: eventfd_t = 0
        _ = unsafe eventfd_read(descriptor, &count)
    }

    /// Waits for a signal, at most `milliseconds`.
    @available(*, noasync)
    func wait(milliseconds: Int) {
        var member = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&member, 1, CInt(milliseconds))
    }
}
