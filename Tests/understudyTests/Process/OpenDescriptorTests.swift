import Foundation
import Glibc
import Platform
import Proxy
import Testing

@testable import Program
@testable import understudy

struct OpenDescriptorTests {
    @Test func `a pipe that is full for now gets all bytes`() throws {
        var ends: [CInt] = [0, 0]
        // pipe writes two numbers to the array, which has room for them.
        let made = unsafe pipe(&ends)
        try #require(made == 0)
        let (reading, writing) = (ends[0], ends[1])
        try #require(fcntl(writing, F_SETFL, O_NONBLOCK) == 0)
        defer { close(reading) }
        // More than a pipe holds, so that the writer has to wait for the reader.
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) }
        Thread.detachNewThread {
            try? OpenDescriptor(number: writing, name: "the pipe").write(bytes)
            close(writing)
        }
        var read: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            // read writes at most as many bytes as the array has.
            let count = unsafe Glibc.read(reading, &chunk, chunk.count)
            if count <= 0 { break }
            read += chunk.prefix(count)
        }
        #expect(read == bytes)
    }

    @Test func `a full disk is an error with its reason`() throws {
        // open keeps nothing of the path, which is lent for the call.
        let full = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(full >= 0)
        defer { close(full) }
        let failure = #expect(throws: FileFailure.self) {
            try OpenDescriptor(number: full, name: "standard output").write([1, 2, 3])
        }
        #expect(failure?.description == "Cannot write standard output: No space left on device.")
    }
}
