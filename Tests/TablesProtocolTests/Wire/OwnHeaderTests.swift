import Foundation
import HTTPTypes
import TablesProtocol
import Testing

struct OwnHeaderTests {
    @Test
    func `docs/PROTOCOL.md has every header field of our own with its sentence, and no other`()
        throws
    {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appending(path: "docs/PROTOCOL.md"), encoding: .utf8)
        let told = page.split(separator: "\n").filter { $0.hasPrefix("| `Understudy-") }
        let declared = OwnHeader.all.map { header in
            "| `\(header.name.rawName)` | \(header.sender.rawValue) | \(header.sentence) |"
        }
        #expect(told.map(String.init) == declared)
    }
}
