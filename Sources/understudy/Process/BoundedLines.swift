/// Puts the lines of a file together from the pieces in which it is read, as far as a bound: a device
/// may have no end, and a line of it neither.
struct BoundedLines {
    /// A line without its end.
    struct Line: Sendable, Hashable {
        /// Its number in the file, from 1.
        let number: Int
        let bytes: [UInt8]
    }

    /// What there is too much of.
    enum Excess: Error, Sendable, Hashable {
        case line(number: Int)
        case total
    }

    /// The most bytes of a line.
    let lineBytes: Int
    /// The most bytes of all.
    let totalBytes: Int
    private var rest: [UInt8] = []
    private var number = 1
    private var count = 0

    /// Begins with the first line.
    init(lineBytes: Int, totalBytes: Int) {
        self.lineBytes = lineBytes
        self.totalBytes = totalBytes
    }

    /// Takes the next piece.
    /// - Returns: the lines that end in it, without the empty ones.
    mutating func take(_ piece: [UInt8]) throws(Excess) -> [Line] {
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

    /// The last line, where the file does not end with a line's end.
    func end() -> Line? { rest.isEmpty ? nil : Line(number: number, bytes: rest) }

    private func refuseLong() throws(Excess) {
        if rest.count > lineBytes { throw .line(number: number) }
    }
}
