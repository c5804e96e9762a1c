import Testing

@testable import SyncCore

struct WakeSignalTests {
    @Test func `a wake signal is kept until it is taken, and two are one`() {
        let signal = WakeSignal()
        signal.send(.write)
        signal.send(.write)
        #expect(signal.take() == [.write])
        #expect(signal.take() == [])
    }

    @Test func `writes do not wake a loop without the write trigger, other signals do`() async {
        let signal = WakeSignal()
        signal.setWakesOnWrites(false)
        signal.send(.write)
        signal.send(.reachable)
        await signal.wait()
        #expect(signal.take() == [.reachable])
        signal.setWakesOnWrites(true)
        signal.send(.write)
        await signal.wait()
        #expect(signal.take() == [.write])
    }
}
