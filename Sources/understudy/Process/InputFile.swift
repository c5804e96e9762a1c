import Glibc
import Proxy

/// A file that is read from its beginning. What is known of it is of the file that was opened, not of
/// one that took its name since.
final class InputFile {
    /// Why a file is not read.
    enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// The operating system does not give it.
        case failed(FileFailure)
        /// What has the path is no regular file: reading a pipe may have no end.
        case noRegularFile(String)

        /// One sentence.
        var description: String {
            switch self {
            case .failed(let failure): failure.description
            case .noRegularFile(let path): "\(path) is no regular file; name one that is."
            }
        }
    }

    let path: String
    /// Its owner and permissions.
    let status: Files.Status
    private let descriptor: CInt
    /// Bytes that are read at once.
    private static let chunkBytes = 1 << 16

    /// Opens a file; nil when there is none. Opening waits for nothing, as a pipe without a writer would
    /// have it.
    /// - Parameter streams: whether it may be a pipe or a device of characters too. A pipe that has no
    ///   writer ``Limits/pipeWriterMilliseconds`` later is empty.
    init?(_ path: String, streams: Bool = false) throws(Refusal) {
        // open keeps nothing of the path, which is lent for the call.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .failed(FileFailure("read \(path)"))
        }
        guard let status = Files.status(descriptor), let kind = Self.kind(descriptor) else {
            let failure = FileFailure("read \(path)")
            close(descriptor)
            throw .failed(failure)
        }
        guard kind == S_IFREG || streams && (kind == S_IFIFO || kind == S_IFCHR) else {
            close(descriptor)
            throw .noRegularFile(path)
        }
        if kind == S_IFIFO { Self.wait(descriptor, milliseconds: Limits.pipeWriterMilliseconds) }
        self.path = path
        self.descriptor = descriptor
        self.status = status
    }

    deinit { close(descriptor) }

    /// The next bytes; nil at the end.
    func next() throws(FileFailure) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
        while true {
            // read writes at most as many bytes as the array has.
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count >= 0 { return count == 0 ? nil : Array(chunk.prefix(count)) }
            // The writer of a pipe has nothing yet, and may take its time.
            guard errno == EAGAIN else { throw FileFailure("read \(path)") }
            Self.wait(descriptor, milliseconds: -1)
        }
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

    /// The kind of file that a descriptor leads to, such as `S_IFREG`.
    private static func kind(_ descriptor: CInt) -> UInt32? {
        var status = stat()
        // fstat fills the struct that it is given, which lives until the call returns.
        return unsafe fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Waits until there is something to read, or until the writer has gone; below zero for any time.
    private static func wait(_ descriptor: CInt, milliseconds: CInt) {
        var member = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // poll reads and writes the one struct that it is given, which lives until the call returns.
        _ = unsafe poll(&member, 1, milliseconds)
    }
}
