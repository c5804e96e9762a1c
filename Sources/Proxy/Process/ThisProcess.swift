import Glibc
import SyncCore
package import TablesProtocol

/// Values of the operating system for this process.
package enum ThisProcess {
    package static var user: UInt32 { getuid() }

    /// The wall clock in milliseconds.
    package static var now: Instant {
        var time = timespec()
        // clock_gettime fills the struct that it is given.
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    package static func environment(_ name: String) -> String? {
        // The C string belongs to the environment, which this program never changes. It is copied at once.
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    /// The name of this machine, as its users gave it; `this machine` if it is not known.
    package static var host: String {
        let bytes = ((try? Files.read("/proc/sys/kernel/hostname")) ?? nil) ?? []
        let name = String(decoding: bytes, as: UTF8.self)[...].trimming { $0 == "\n" }
        return name.isEmpty ? "this machine" : String(name)
    }

    /// 32 random bytes as base64url text, from the system's generator for secrets.
    package static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64.encodedForURL((0..<32).map { _ in generator.next() as UInt8 })
    }
}

/// The clocks of this machine, for the stores and the engines.
package struct SystemClock: EngineClock {
    private static let start = ContinuousClock.now

    /// Makes a clock; all have the same time.
    package init() {}

    /// The wall clock.
    package func now() -> Instant { ThisProcess.now }

    /// Time since the start of the process; it goes on while the machine sleeps.
    package func uptime() -> Duration { Self.start.duration(to: .now) }

    /// Returns when `uptime()` has come to `deadline`, or early when the task is cancelled.
    package func sleep(until deadline: Duration) async {
        try? await ContinuousClock().sleep(until: Self.start.advanced(by: deadline))
    }
}

/// The people who can log in to this machine.
package enum LoginUsers {
    /// Their number by `/etc/passwd`; 0 if it cannot be read.
    package static var count: Int {
        let bytes = (try? Files.read("/etc/passwd")) ?? nil
        return count(String(decoding: bytes ?? [], as: UTF8.self))
    }

    /// Counts the lines of people: a user id from 1000 to 65533 (65534 is the user `nobody`), and a shell.
    static func count(_ passwd: String) -> Int {
        passwd.split(separator: "\n").count { line in
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count == 7, let number = Int(fields[2]), number >= 1000, number < 65534
            else { return false }
            return !fields[6].hasSuffix("/nologin") && !fields[6].hasSuffix("/false")
        }
    }
}

package enum Version {
    /// As `understudy --version` prints it.
    package static let text = "0.1.0"
}

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

/// Why a command cannot start or go on: one sentence and the exit code.
package struct StartProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence for a person, with what to do.
    package let sentence: String
    /// The code the process ends with.
    package let exitCode: ExitStatus

    package init(_ sentence: String, _ exitCode: ExitStatus = .usage) {
        self.sentence = sentence
        self.exitCode = exitCode
    }

    package var description: String { sentence }
}

/// The exit code of a command. A command that has printed its output throws it.
package enum ExitStatus: Int32, Error, Sendable, Hashable, CaseIterable {
    /// Success.
    case ok = 0
    /// Failure.
    case error = 1
    /// Wrong use, or a start that is not possible (port, folder, lock).
    case usage = 2
    case offline = 3
    case conflicts = 4
    case quarantined = 5
    /// No Understudy runs on this data folder.
    case notRunning = 6
}
