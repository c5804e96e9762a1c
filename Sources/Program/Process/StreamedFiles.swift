import Glibc
package import Platform

/// A file that is read from its beginning. Its status is that of the open file, also if the path has
/// changed since.
package final class InputFile {
    /// Why a file is not opened.
    package enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        case failed(FileFailure)
        /// The path is no regular file. Reading a pipe may never end.
        case noRegularFile(String)

        package var description: String {
            switch self {
            case .failed(let failure): failure.description
            case .noRegularFile(let path): "\(path) is no regular file; name one that is."
            }
        }
    }

    package static let standardInput = "/dev/stdin"

    package let path: String
    /// Its owner and permissions.
    package let status: Files.Status
    private let descriptor: CInt

    /// Opens a file; nil if there is none. Opening a pipe does not wait for its writer.
    /// - Parameter streams: whether the file may also be a pipe or a character device. A pipe without a
    ///   writer after ``Limits/pipeWriterMilliseconds`` is empty.
    package init?(_ path: String, streams: Bool = false) throws(Refusal) {
        // Standard input is open already, perhaps by another user: by its path it may be forbidden. open keeps
        // nothing of the path, which is lent for the call.
        let descriptor =
            path == Self.standardInput
            ? dup(STDIN_FILENO)
            : unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
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
    package func next() throws(FileFailure) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: Platform.Limits.filePieceBytes)
        while true {
            // read writes at most as many bytes as the array has.
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count >= 0 { return count == 0 ? nil : Array(chunk.prefix(count)) }
            // The pipe is empty; wait for its writer.
            guard errno == EAGAIN else { throw FileFailure("read \(path)") }
            Self.wait(descriptor, milliseconds: -1)
        }
    }

    /// The whole content; nil if it has more bytes than `limit`.
    package func bytes(atMost limit: Int) throws(FileFailure) -> [UInt8]? {
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

    /// Blocks until there is input or the writer has closed the pipe, at most `milliseconds`; without a
    /// limit if that is negative.
    private static func wait(_ descriptor: CInt, milliseconds: CInt) {
        var member = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // poll reads and writes the one struct that it is given, which lives until the call returns.
        _ = unsafe poll(&member, 1, milliseconds)
    }
}

/// A new file for its owner alone, written line by line. It gets its name when it is whole: until then it
/// grows under another name beside it, so that no half file has the name.
package final class OutputFile {
    private let path: String
    private let part: String
    private let descriptor: CInt
    private var waiting: [UInt8] = []
    private var isWhole = false

    /// Makes the file; throws if there is one.
    package init(_ path: String) throws(FileFailure) {
        self.path = path
        part = "\(path).part-\(ThisProcess.secret().prefix(12))"
        if Files.exists(path) { throw FileFailure("make the file \(path)", code: EEXIST) }
        // open keeps nothing of the path, which is lent for the call.
        descriptor = unsafe open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFailure("make the file \(path)") }
    }

    deinit {
        close(descriptor)
        if !isWhole { Files.remove(part) }
    }

    package func print(_ line: String) throws(FileFailure) {
        waiting += line.utf8
        waiting.append(UInt8(ascii: "\n"))
        if waiting.count >= Platform.Limits.filePieceBytes { try flush() }
    }

    /// Writes the rest, syncs the file, and gives it its name. Throws if a file has got that name meanwhile.
    package func finish() throws(FileFailure) {
        try flush()
        guard fsync(descriptor) == 0 else { throw FileFailure("write \(path)") }
        try Files.rename(part, toNew: path)
        isWhole = true
    }

    private func flush() throws(FileFailure) {
        try OpenDescriptor(number: descriptor, name: path).write(waiting)
        waiting.removeAll(keepingCapacity: true)
    }
}

/// Splits a file into lines, from the pieces in which it is read, within limits.
package struct BoundedLines {
    package struct Line: Sendable, Hashable {
        /// Its number in the file, from 1.
        package let number: Int
        package let bytes: [UInt8]
    }

    /// The limit that was exceeded.
    package enum Excess: Error, Sendable, Hashable {
        case line(number: Int)
        case total
    }

    /// The most bytes of a line.
    package let lineBytes: Int
    /// The most bytes of the file.
    package let totalBytes: Int
    private var rest: [UInt8] = []
    private var number = 1
    private var count = 0

    package init(lineBytes: Int, totalBytes: Int) {
        self.lineBytes = lineBytes
        self.totalBytes = totalBytes
    }

    /// Takes the next piece.
    /// - Returns: the lines that end in the piece, without empty ones.
    package mutating func take(_ piece: [UInt8]) throws(Excess) -> [Line] {
        count += piece.count
        if count > totalBytes { throw .total }
        var lines: [Line] = []
        var begin = piece.startIndex
        while let end = piece[begin...].firstIndex(of: UInt8(ascii: "\n")) {
            rest += piece[begin..<end]
            try refuseLong()
            if !rest.isEmpty { lines.append(Line(number: number, bytes: rest)) }
            rest.removeAll()
            number += 1
            begin = end + 1
        }
        rest += piece[begin...]
        try refuseLong()
        return lines
    }

    /// The last line, if the file does not end with a line break; nil otherwise.
    package func end() -> Line? { rest.isEmpty ? nil : Line(number: number, bytes: rest) }

    private func refuseLong() throws(Excess) {
        if rest.count > lineBytes { throw .line(number: number) }
    }
}

/// A file, pipe or terminal that is open for writing.
package struct OpenDescriptor {
    /// The number of the open file. This type does not close it.
    package let number: CInt
    /// Its name in messages, such as `standard output`.
    package let name: String

    /// Writes all bytes. If the call is interrupted it goes on, and if a pipe is full it waits until the
    /// reader has taken some bytes.
    /// - Throws: the failure of the system, such as a full disk. Some of the bytes may be written then.
    package func write(_ bytes: [UInt8]) throws(FileFailure) {
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
