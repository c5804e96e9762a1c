import Testing

@testable import SyncCore

struct WakeSignalTests {
    @Test func `a write is kept until it is taken, twice it is one`() {
        let signal = WakeSignal()
        signal.send(.write)
        signal.send(.write)
        #expect(signal.take() == [.write])
        #expect(signal.take() == [])
    }

    @Test func `where nothing is sent after writes, they wake nobody, and all else does`() async {
        let signal = WakeSignal()
        signal.hear(writes: false)
        signal.send(.write)
        signal.send(.action)
        await signal.wait()
        #expect(signal.take() == [.action])
        signal.hear(writes: true)
        signal.send(.write)
        await signal.wait()
        #expect(signal.take() == [.write])
    }
}
