import Glibc
import Proxy

/// A new file for its owner alone, written line by line.
final class OutputFile {
    private let path: String
    private let descriptor: CInt
    private var waiting: [UInt8] = []
    /// Bytes that are gathered before they are written.
    private static let gatheredBytes = 1 << 16

    /// Makes the file; one that is there already is not touched.
    init(_ path: String) throws(FileFailure) {
        self.path = path
        // open keeps nothing of the path, which is lent for the call.
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFailure("make the file \(path)") }
    }

    deinit { close(descriptor) }

    /// Adds a line.
    func print(_ line: String) throws(FileFailure) {
        waiting += line.utf8
        waiting.append(UInt8(ascii: "\n"))
        if waiting.count >= Self.gatheredBytes { try flush() }
    }

    /// Writes what is left; then everything is on disk.
    func finish() throws(FileFailure) {
        try flush()
        guard fsync(descriptor) == 0 else { throw FileFailure("write \(path)") }
    }

    private func flush() throws(FileFailure) {
        var rest = waiting[...]
        while !rest.isEmpty {
            // write reads at most as many bytes as the slice has.
            let count = unsafe rest.withUnsafeBufferPointer { bytes in
                unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            }
            if count <= 0 { throw FileFailure("write \(path)") }
            rest = rest.dropFirst(count)
        }
        waiting.removeAll(keepingCapacity: true)
    }
}
