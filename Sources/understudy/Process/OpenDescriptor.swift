import Glibc
import Proxy

/// A file, pipe or terminal that is open for writing.
struct OpenDescriptor {
    /// The number of the open file. This type does not close it.
    let number: CInt
    /// Its name in messages, such as `standard output`.
    let name: String

    /// Writes all bytes. If the call is interrupted it goes on, and if a pipe is full it waits until the
    /// reader has taken some bytes.
    /// - Throws: the failure of the system, such as a full disk. Some of the bytes may be written then.
    func write(_ bytes: [UInt8]) throws(FileFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // write reads at most as many bytes as the slice has.
            let count = unsafe rest.withUnsafeBufferPointer { bytes in
                unsafe Glibc.write(number, bytes.baseAddress, bytes.count)
            }
            if count > 0 {
                rest = rest.dropFirst(count)
                continue
            }
            if count == 0 { throw FileFailure("write \(name)", code: EIO) }
            switch errno {
            case EINTR: continue
            case EAGAIN: waitForRoom()
            default: throw FileFailure("write \(name)")
            }
        }
    }

    /// Blocks until bytes can be written, or the reader is gone.
    private func waitForRoom() {
        var member = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        // poll reads and writes the one struct that it is given, which lives until the call returns.
        _ = unsafe poll(&member, 1, -1)
    }
}
