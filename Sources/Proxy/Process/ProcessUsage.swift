import Glibc
import Platform

/// What this process uses of the machine, as `/proc` says.
struct ProcessUsage: Sendable, Hashable {
    /// Seconds of processor time, of the program and of the system for it.
    var cpuSeconds: Double
    var openFiles: Int64
    /// How many may be open; the greatest number for any.
    var maxOpenFiles: UInt64
    /// Bytes of address space.
    var virtualBytes: Int64
    /// How much address space is allowed, in bytes; the greatest number for any.
    var maxVirtualBytes: UInt64
    /// Bytes in memory.
    var residentBytes: Int64
    /// When the process started, in seconds since 1970.
    var startedAtSeconds: Double

    /// Reads the present usage; nil where `/proc` cannot be read.
    static func read() -> ProcessUsage? {
        guard let stat = text("/proc/self/stat"), let system = text("/proc/stat"),
            let limits = text("/proc/self/limits")
        else { return nil }
        // The folder is open while it is read.
        let openFiles = Files.names(in: "/proc/self/fd").count - 1
        return ProcessUsage(
            stat: stat, system: system, limits: limits, openFiles: Int64(openFiles),
            ticksPerSecond: Double(sysconf(CInt(_SC_CLK_TCK))),
            pageBytes: Int64(sysconf(CInt(_SC_PAGESIZE))))
    }

    private static func text(_ path: String) -> String? {
        ((try? Files.read(path)) ?? nil).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads the texts of the files in `/proc` (man 5 proc); nil for other texts.
    init?(
        stat: String, system: String, limits: String, openFiles: Int64, ticksPerSecond: Double,
        pageBytes: Int64
    ) {
        // The name of the program, in brackets, may have spaces and brackets in it. Field 3 comes after it.
        guard let nameEnd = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[nameEnd...].split(separator: " ").dropFirst()
        func field(_ number: Int) -> Int64? {
            let index = fields.startIndex + number - 3
            return fields.indices.contains(index) ? Int64(fields[index]) : nil
        }
        let bootLine = system.split(separator: "\n").first { $0.hasPrefix("btime ") }
        guard let user = field(14), let kernel = field(15), let start = field(22),
            let virtual = field(23), let pages = field(24),
            let boot = bootLine.flatMap({ Double($0.dropFirst("btime ".count)) }),
            let maxOpenFiles = Self.limit("Max open files", limits),
            let maxVirtualBytes = Self.limit("Max address space", limits)
        else { return nil }
        cpuSeconds = Double(user + kernel) / ticksPerSecond
        self.openFiles = openFiles
        self.maxOpenFiles = maxOpenFiles
        virtualBytes = virtual
        self.maxVirtualBytes = maxVirtualBytes
        residentBytes = pages * pageBytes
        startedAtSeconds = boot + Double(start) / ticksPerSecond
    }

    private static func limit(_ name: String, _ limits: String) -> UInt64? {
        let line = limits.split(separator: "\n").first { $0.hasPrefix(name) }
        let word = line?.dropFirst(name.count).split(separator: " ").first
        return word == "unlimited" ? .max : word.flatMap { UInt64($0) }
    }
}
