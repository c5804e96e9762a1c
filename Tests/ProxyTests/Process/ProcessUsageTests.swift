import Testing

@testable import Proxy

struct ProcessUsageTests {
    private static let stat =
        "77 (a (b) c) S 1 2 3 4 -1 6 7 8 9 10 150 50 13 14 20 0 5 0 3000 1000000 25 18446744073709551615"
    private static let limits = """
        Limit                     Soft Limit           Hard Limit           Units
        Max open files            1024                 524288               files
        Max address space         unlimited            unlimited            bytes
        """

    private func usage(_ stat: String, system: String = "cpu 1\nbtime 1700000000\n")
        -> ProcessUsage?
    {
        ProcessUsage(
            stat: stat, system: system, limits: Self.limits, openFiles: 9, ticksPerSecond: 100,
            pageBytes: 4096)
    }

    @Test func `the texts of proc are read, whatever the name of the program`() throws {
        let found = try #require(usage(Self.stat))
        #expect(found.cpuSeconds == 2)
        #expect(found.openFiles == 9 && found.maxOpenFiles == 1024)
        #expect(found.virtualBytes == 1_000_000 && found.maxVirtualBytes == .max)
        #expect(found.residentBytes == 25 * 4096)
        #expect(found.startedAtSeconds == 1_700_000_030)
    }

    @Test func `other texts give nothing`() {
        #expect(usage("") == nil && usage("77 (a) S 1 2") == nil)
        #expect(usage(Self.stat, system: "cpu 1") == nil)
    }

    @Test func `this process is measured`() throws {
        let usage = try #require(ProcessUsage.read())
        #expect(usage.residentBytes > 1 << 20 && usage.openFiles > 2)
    }
}
