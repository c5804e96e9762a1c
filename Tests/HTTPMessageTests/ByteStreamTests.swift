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

    @Test func `a writer is called back when the reader cancels`() {
        let stream = ByteStream()
        let heard = Mutex(0)
        stream.onCancel { heard.withLock { $0 += 1 } }
        stream.cancel()
        stream.onCancel { heard.withLock { $0 += 1 } }
        #expect(heard.withLock { $0 } == 2)
        #expect(!stream.write([1]))
    }

    @Test func `a failed stream is read to its last byte, then reports the failure`() {
        let stream = ByteStream()
        #expect(stream.write([1]))
        stream.fail()
        #expect(!stream.write([2]))
        #expect(stream.read(maxBytes: 8) {} == .bytes([1]))
        #expect(stream.read(maxBytes: 8) {} == .failed)
    }

    @Test func `a stream that has ended cannot fail afterwards`() {
        let stream = ByteStream()
        stream.finish()
        stream.fail()
        #expect(stream.read(maxBytes: 8) {} == .end)
    }

    @Test
    func `a writer whose bytes were refused is called back once when half of the capacity is free`()
    {
        let stream = ByteStream(capacityBytes: 8)
        let told = Mutex(0)
        #expect(stream.write([1, 2, 3, 4, 5, 6, 7, 8]))
        #expect(!stream.write([9]))
        stream.onWritable { told.withLock { $0 += 1 } }
        #expect(stream.read(maxBytes: 3) {} == .bytes([1, 2, 3]))
        #expect(told.withLock { $0 } == 0)
        #expect(stream.read(maxBytes: 3) {} == .bytes([4, 5, 6]))
        #expect(told.withLock { $0 } == 1)
        #expect(stream.write([9]))
        #expect(stream.read(maxBytes: 9) {} == .bytes([7, 8, 9]))
        #expect(told.withLock { $0 } == 1)
        stream.onWritable { told.withLock { $0 += 1 } }
        #expect(told.withLock { $0 } == 2)
    }

    @Test func `a writer that waits for capacity is called back when the reader cancels`() {
        let stream = ByteStream(capacityBytes: 2)
        #expect(stream.write([1, 2]))
        let told = Mutex(false)
        stream.onWritable { told.withLock { $0 = true } }
        stream.cancel()
        #expect(told.withLock { $0 })
        #expect(stream.isCancelled)
        #expect(!stream.write([3]))
    }
}
