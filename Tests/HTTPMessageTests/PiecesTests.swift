import HTTPMessage
import Testing

struct PiecesTests {
    @Test(arguments: [
        ("a=1; b=2", ["a=1", "b=2"]), ("", []), (" ; ;\t", []), ("\t a b \t;c;", ["a b", "c"]),
        ("a=\u{600}; b=2", ["a=\u{600}", "b=2"]), ("a\u{301};\u{301}b", ["a\u{301}", "\u{301}b"]),
        ("a;\u{200D};b", ["a", "\u{200D}", "b"]), ("\u{A0}a", ["\u{A0}a"]),
    ])
    func `a value is split by bytes, whatever characters they join to`(
        value: String, pieces: [String]
    ) {
        let found = value[...].pieces(separatedBy: UInt8(ascii: ";"))
        #expect(found.map { Array($0.utf8) } == pieces.map { Array($0.utf8) })
    }
}
