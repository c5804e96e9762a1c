import Foundation
import Testing

@testable import Proxy

/// Runs of another program.
struct ProgramRunTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

    /// Makes a program of a shell script; `$OUT` in it is the file ``output``.
    private func program(_ script: String) throws -> String {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "program").path
        try "#!/bin/sh\n\(script)\n".write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        return path
    }

    private var output: URL { folder.appending(path: "output") }

    private func run(
        _ script: String, input: [UInt8] = [], seconds: Int64 = 60
    ) async throws -> ProgramRun.End {
        let environment = [
            (name: "OUT", value: output.path), (name: "PATH", value: "/usr/bin:/bin"),
        ]
        return await ProgramRun(
            path: try program(script), environment: environment, seconds: seconds
        ).run(input)
    }

    @Test func `it gets more input than a pipe holds, and its exit code is seen`() async throws {
        let input = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(try await run("cat > \"$OUT\"; exit 7", input: input) == .ended(7))
        #expect(try Data(contentsOf: output) == Data(input))
    }

    @Test func `it need not read its input, and its output goes nowhere`() async throws {
        let input = [UInt8](repeating: 1, count: 1_000_000)
        #expect(try await run("echo out; echo err >&2; exit 0", input: input) == .ended(0))
    }

    @Test func `it has the given variables and no open file of this process`() async throws {
        #expect(
            try await run("ls /proc/self/fd | wc -l > \"$OUT\"; echo \"$HOME\" >> \"$OUT\"")
                == .ended(0))
        // Three, and the folder that ls reads.
        #expect(try String(contentsOf: output, encoding: .utf8) == "4\n\n")
    }

    @Test func `one that takes too long is ended, and a signal is seen`() async throws {
        #expect(try await run("sleep 600", seconds: 0) == .tookTooLong)
        #expect(try await run("kill -TERM $$") == .killed(SIGTERM))
    }

    @Test func `one that cannot be started says why`() async {
        let run = ProgramRun(path: "/nowhere/tell", environment: [], seconds: 1)
        let end = await run.run([])
        #expect(end == .notStarted(ENOENT))
        #expect(end.description == "The command could not be started: No such file or directory.")
    }
}
