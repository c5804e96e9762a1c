import Glibc

/// A file that is read from its beginning. What is known of it is of the file that was opened, not of
/// one that took its name since.
final class InputFile {
    let path: String
    /// Its owner and permissions.
    let status: Files.Status
    private let descriptor: CInt
    /// Bytes that are read at once.
    private static let chunkBytes = 1 << 16

    /// Opens a file; nil when there is none.
    init?(_ path: String) throws(FileFailure) {
        // open keeps nothing of the path, which is lent for the call.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw FileFailure("read \(path)")
        }
        guard let status = Files.status(descriptor) else {
            let failure = FileFailure("read \(path)")
            close(descriptor)
            throw failure
        }
        self.path = path
        self.descriptor = descriptor
        self.status = status
    }

    deinit { close(descriptor) }

    /// The next bytes; nil at the end.
    func next() throws(FileFailure) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
        // read writes at most as many bytes as the array has.
        let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
        if count < 0 { throw FileFailure("read \(path)") }
        return count == 0 ? nil : Array(chunk.prefix(count))
    }

    /// All of it; nil where it has more bytes than `limit`, as a device without an end has.
    func bytes(atMost limit: Int) throws(FileFailure) -> [UInt8]? {
        var bytes: [UInt8] = []
        while let chunk = try next() {
            bytes += chunk
            if bytes.count > limit { return nil }
        }
        return bytes
    }
}
