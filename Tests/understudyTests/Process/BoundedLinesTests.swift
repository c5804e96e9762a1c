import Testing

@testable import Program
@testable import understudy

@Suite struct BoundedLinesTests {
    private func read(
        _ pieces: [String], line: Int = 5, total: Int = 100
    ) throws(BoundedLines.Excess) -> [BoundedLines.Line] {
        var lines = BoundedLines(lineBytes: line, totalBytes: total)
        var all: [BoundedLines.Line] = []
        for piece in pieces { all += try lines.take(Array(piece.utf8)) }
        return all + [lines.end()].compactMap { $0 }
    }

    private func line(_ number: Int, _ text: String) -> BoundedLines.Line {
        BoundedLines.Line(number: number, bytes: Array(text.utf8))
    }

    @Test func `lines are the same for any pieces of the file`() throws {
        let text = "a\n\nbcdef\n\ng"
        let lines = [line(1, "a"), line(3, "bcdef"), line(5, "g")]
        #expect(try read([text]) == lines)
        #expect(try read(text.map { String($0) }) == lines)
        #expect(try read([text + "\n"]) == lines)
        #expect(try read([]) == [])
    }

    @Test func `a line beyond the limit is refused before it ends`() {
        #expect(throws: BoundedLines.Excess.line(number: 2)) { try read(["a\nbcdefg\n"]) }
        #expect(throws: BoundedLines.Excess.line(number: 2)) { try read(["a\nbc", "def", "g"]) }
    }

    @Test func `a file beyond the limit is refused, whatever its lines`() {
        #expect(throws: BoundedLines.Excess.total) { try read(["a\nb\nc\n", "d\n"], total: 7) }
        #expect(throws: BoundedLines.Excess.total) { try read(["\n\n\n\n", "\n\n\n\n"], total: 7) }
    }
}
