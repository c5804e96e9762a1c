import HTTPMessage
import Synchronization
import Testing

@Suite struct ByteStreamTests {
    @Test func `a waiting reader is woken once by the next write`() {
        let stream = ByteStream()
        let wakes = Mutex(0)
        #expect(stream.read(maxBytes: 8) { wakes.withLock { $0 += 1 } } == .wait)
        #expect(stream.write([1, 2, 3]))
        #expect(stream.write([4]))
        #expect(wakes.withLock { $0 } == 1)
        #expect(stream.read(maxBytes: 3) {} == .bytes([1, 2, 3]))
        stream.finish()
        #expect(stream.read(maxBytes: 3) {} == .bytes([4]))
        #expect(stream.read(maxBytes: 3) {} == .end)
    }

    @Test func `a stream refuses more than its capacity and loses nothing it took`() {
        let stream = ByteStream(capacityBytes: 4)
        #expect(stream.write([1, 2, 3]))
        #expect(!stream.write([4, 5]))
        #expect(stream.read(maxBytes: 8) {} == .bytes([1, 2, 3]))
    }

    @Test func `a writer hears that its reader is gone`() {
        let stream = ByteStream()
        let heard = Mutex(0)
        stream.onCancel { heard.withLock { $0 += 1 } }
        stream.cancel()
        stream.onCancel { heard.withLock { $0 += 1 } }
        #expect(heard.withLock { $0 } == 2)
        #expect(!stream.write([1]))
    }

    @Test func `a torn stream is told apart from one that ended, after its last bytes`() {
        let stream = ByteStream()
        #expect(stream.write([1]))
        stream.fail()
        #expect(!stream.write([2]))
        #expect(stream.read(maxBytes: 8) {} == .bytes([1]))
        #expect(stream.read(maxBytes: 8) {} == .failed)
    }

    @Test func `a stream that ended cannot be torn afterwards`() {
        let stream = ByteStream()
        stream.finish()
        stream.fail()
        #expect(stream.read(maxBytes: 8) {} == .end)
    }
}
