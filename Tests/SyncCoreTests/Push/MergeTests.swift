import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite struct MergeTests {
    private static let names = ["a", "b", "c", "d"]

    private static func columns(_ random: SeededRandom, among values: [String]) -> Columns {
        var columns = Columns()
        for name in names where !random.happens(0.2) {
            columns[name] = try? JSONText(validating: random.pick(values))
        }
        return columns
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `a merge loses nobody's change`(seed: UInt64) throws {
        let random = SeededRandom(seed)
        let values = ["1", "1.0", "2", "null", #""x""#, "true"]
        let base = Self.columns(random, among: values)
        let theirs = Self.columns(random, among: values)
        let changes = Self.columns(random, among: values)
        switch Merge.threeWay(base: base, changes: changes, theirs: theirs) {
        case .disjoint(let rest):
            var result = theirs
            result.merge(rest)
            for name in Self.names {
                let isMine = changes[name] != nil
                let wanted = isMine ? changes.value(name) : theirs.value(name)
                #expect(result.value(name).isSame(as: wanted), "seed \(seed)")
                if rest[name] != nil { #expect(base.value(name).isSame(as: theirs.value(name))) }
            }
        case .overlapping(let overlaps):
            #expect(!overlaps.isEmpty, "seed \(seed)")
            for name in overlaps {
                #expect(!base.value(name).isSame(as: theirs.value(name)), "seed \(seed)")
                #expect(!changes.value(name).isSame(as: theirs.value(name)), "seed \(seed)")
            }
        }
    }

    @Test func `without a base every difference is theirs`() {
        let merge = Merge.threeWay(
            base: nil, changes: Columns(stored: #"{"a":1,"b":2}"#),
            theirs: Columns(stored: #"{"a":1.0,"b":3}"#))
        #expect(merge == .overlapping(["b"]))
    }

    @Test func `an unchanged row leaves all of mine to send`() {
        let base = Columns(stored: #"{"a":1,"b":null}"#)
        let merge = Merge.threeWay(
            base: base, changes: Columns(stored: #"{"b":"x"}"#),
            theirs: Columns(stored: #"{"a":1}"#))
        #expect(merge == .disjoint(Columns(stored: #"{"b":"x"}"#)))
    }
}
