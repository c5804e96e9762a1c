import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite struct ThreeWayMergeTests {
    private static let names = ["a", "b", "c", "d"]

    private static func columns(_ random: SeededRandom, among values: [String]) -> Columns {
        var columns = Columns()
        for name in names where !random.happens(0.2) {
            columns[name] = try? JSONText(validating: random.pick(values))
        }
        return columns
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `a merge keeps the changes of both sides`(seed: UInt64) throws {
        let random = SeededRandom(seed)
        let values = ["1", "1.0", "2", "null", #""x""#, "true"]
        let base = Self.columns(random, among: values)
        let theirs = Self.columns(random, among: values)
        let changes = Self.columns(random, among: values)
        let merge = ThreeWayMerge(base: base, changes: changes, theirs: theirs)
        for name in Self.names {
            let isMine = changes[name] != nil
            let (mine, their) = (changes.value(name), theirs.value(name))
            let isTheirs = !base.value(name).isSame(as: their)
            let overlaps = isMine && isTheirs && !mine.isSame(as: their)
            #expect(merge.overlaps.contains(name) == overlaps, "seed \(seed)")
            let wanted = isMine ? mine : their
            #expect(merge.mineOverTheirs.value(name).isSame(as: wanted), "seed \(seed)")
            #expect(
                merge.proposed.value(name).isSame(as: overlaps ? their : wanted), "seed \(seed)")
        }
    }

    @Test func `two rows of one base are merged like a row and its changes`() {
        let merge = ThreeWayMerge(
            base: Columns(stored: #"{"a":1,"b":2,"c":3}"#),
            mine: Columns(stored: #"{"a":1,"b":9}"#),
            theirs: Columns(stored: #"{"a":5,"b":2,"c":3}"#))
        #expect(merge.overlaps.isEmpty)
        #expect(merge.proposed == Columns(stored: #"{"a":5,"b":9,"c":null}"#))
    }

    /// `é` as one character and as `e` with an accent.
    @Test func `names that differ in bytes are two columns, names that differ in case are one`() {
        let (one, two) = ("caf\u{E9}", "cafe\u{301}")
        let merge = ThreeWayMerge(
            base: Columns(stored: "{\"\(two)\":1}"), changes: Columns(stored: "{\"\(one)\":2}"),
            theirs: Columns(stored: "{\"\(two)\":2}"))
        #expect(merge.rest == Columns(stored: "{\"\(one)\":2}"))
        #expect(merge.overlaps.isEmpty)
        let row = Columns(stored: "{\"\(two)\":1,\"Text\":3}")
        #expect(row.value(one) == .null && row.value(two).text == "1")
        #expect(row.value("text").text == "3")
    }

    @Test func `without a base every difference is theirs`() {
        let merge = ThreeWayMerge(
            base: nil, changes: Columns(stored: #"{"a":1,"b":2}"#),
            theirs: Columns(stored: #"{"a":1.0,"b":3}"#))
        #expect(merge.overlaps == ["b"])
    }

    /// The server's value, what is left to send, and the overlaps.
    @Test(arguments: [
        (#""2025-12-31T22:00:00.000Z""#, #"{"due":"2026-01-01T00:00:00+02:00"}"#, [String]()),
        (#""2025-12-31T22:00:00Z""#, #"{"due":"2026-01-01T00:00:00+02:00"}"#, []),
        (#""2026-01-01T00:00:00.0+02:00""#, "{}", []),
        (#""2027-01-01T00:00:00Z""#, #"{"due":"2026-01-01T00:00:00+02:00"}"#, ["due"]),
    ])
    func `the base's date in another offset is a change`(
        _ theirs: String, _ rest: String, _ overlaps: [String]
    ) {
        let base = Columns(stored: #"{"due":"2025-12-31T22:00:00Z"}"#)
        let mine = Columns(stored: #"{"due":"2026-01-01T00:00:00+02:00"}"#)
        let server = Columns(stored: "{\"due\":\(theirs)}")
        for merge in [
            ThreeWayMerge(base: base, changes: mine, theirs: server),
            ThreeWayMerge(base: base, mine: mine, theirs: server),
        ] {
            #expect(merge.rest == Columns(stored: rest) && merge.overlaps == overlaps)
        }
    }

    @Test func `another date that both sides wrote, each in its way, is one change`() {
        let merge = ThreeWayMerge(
            base: Columns(stored: #"{"due":"2020-01-01T00:00:00Z"}"#),
            changes: Columns(stored: #"{"due":"2026-01-01T00:00:00+02:00"}"#),
            theirs: Columns(stored: #"{"due":"2025-12-31T22:00:00Z"}"#))
        #expect(merge.rest == Columns() && merge.overlaps.isEmpty)
    }

    @Test func `over an unchanged row, all my changes are left to send`() {
        let base = Columns(stored: #"{"a":1,"b":null}"#)
        let merge = ThreeWayMerge(
            base: base, changes: Columns(stored: #"{"b":"x"}"#),
            theirs: Columns(stored: #"{"a":1}"#))
        #expect(merge.overlaps.isEmpty && merge.rest == Columns(stored: #"{"b":"x"}"#))
    }
}
