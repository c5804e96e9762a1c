import HTTPMessage
import SyncCore
import TablesProtocol

/// A backup as one tar archive (POSIX.1-1988, `ustar`), which is written as fast as the reader takes it.
/// `tar xf` makes the folder of the backup from it, which `understudy restore` takes.
struct BackupArchive: Sendable {
    private struct Member {
        let name: String
        let path: String
        let bytes: Int64
    }

    /// The file name of the archive.
    let name: String
    private let folder: String
    private let members: [Member]
    private let modified: Int64
    private let executor: BlockingExecutor

    /// Checks the backup, and takes the sizes of its files.
    @available(*, noasync)
    init(_ kept: BackupFolder.Kept, _ executor: BlockingExecutor) throws(StartProblem) {
        let backup = Backup(path: kept.path)
        folder = BackupFolder.name(kept.at)
        name = "understudy-\(folder).tar"
        modified = kept.at.milliseconds / 1000
        self.executor = executor
        var members: [Member] = []
        for file in backup.files(try backup.verified()) {
            let bytes = Files.size(file.path) ?? 0
            guard bytes < Self.largestBytes else {
                throw StartProblem(
                    "\(file.path) is too large for an archive (8 GiB): copy the folder.", .error)
            }
            members.append(Member(name: file.name, path: file.path, bytes: bytes))
        }
        self.members = members
    }

    /// The bytes of the whole archive.
    var bytes: Int64 {
        members.reduce(Int64(2 * Self.blockBytes)) { sum, member in
            sum + Int64(Self.blockBytes) + member.bytes + Int64(Self.padding(member.bytes))
        }
    }

    /// Writes the archive.
    /// - Returns: false if a file cannot be read any more, or the reader has left.
    func write(to stream: ByteStream, while isAuthorized: () -> Bool) async -> Bool {
        for member in members {
            guard await stream.writeInPieces(header(member)) else { return false }
            var offset: Int64 = 0
            while offset < member.bytes {
                let count = Int(min(member.bytes - offset, Int64(Limits.exportedPieceBytes)))
                guard isAuthorized(), let piece = await piece(of: member.path, offset, count),
                    piece.count == count, await stream.writeInPieces(piece)
                else { return false }
                offset += Int64(count)
            }
            let padding = [UInt8](repeating: 0, count: Self.padding(member.bytes))
            guard await stream.writeInPieces(padding) else { return false }
        }
        return await stream.writeInPieces([UInt8](repeating: 0, count: 2 * Self.blockBytes))
    }

    private func piece(of path: String, _ offset: Int64, _ count: Int) async -> [UInt8]? {
        await executor.value { try? Files.read(path, from: offset, most: count) }
    }

    /// The block before a file: its name, 0600, its size and time in octal digits, and a sum over the block.
    private func header(_ member: Member) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: Self.blockBytes)
        func put(_ text: String, at place: Int) {
            for (index, byte) in text.utf8.enumerated() { block[place + index] = byte }
        }
        func octal(_ number: Int64, _ digits: Int) -> String {
            let text = String(number, radix: 8)
            return String(repeating: "0", count: digits - text.count) + text
        }
        // The name of a store's file fits into 100 bytes, since the key of an identity is bounded.
        put(member.name, at: 0)
        put("0000600", at: 100)
        put("0000000", at: 108)
        put("0000000", at: 116)
        put(octal(member.bytes, 11), at: 124)
        put(octal(modified, 11), at: 136)
        put("        ", at: 148)
        put("0", at: 156)
        put("ustar", at: 257)
        put("00", at: 263)
        put(folder, at: 345)
        put(octal(block.reduce(0) { $0 + Int64($1) }, 6) + "\0 ", at: 148)
        return block
    }

    private static let blockBytes = 512
    /// More does not fit into the eleven octal digits of a size.
    private static let largestBytes: Int64 = 1 << 33

    private static func padding(_ bytes: Int64) -> Int {
        let rest = Int(bytes % Int64(blockBytes))
        return rest == 0 ? 0 : blockBytes - rest
    }
}
