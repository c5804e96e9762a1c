private import CMicroHTTPD
import Glibc

/// An eventfd: rung from any thread, waited for by one.
struct Bell: Sendable {
    let descriptor: CInt

    /// Makes a silent bell, owned until ``close()``; nil when the system has no descriptor left.
    init?() {
        descriptor = eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK))
        if descriptor < 0 { return nil }
    }

    func close() { _ = Glibc.close(descriptor) }

    func ring() { _ = eventfd_write(descriptor, 1) }

    func silence() {
        var count: eventfd_t = 0
        _ = unsafe eventfd_read(descriptor, &count)
    }

    /// Waits until it has rung, at most `milliseconds`.
    @available(*, noasync)
    func wait(milliseconds: Int) {
        var member = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&member, 1, CInt(milliseconds))
    }
}
