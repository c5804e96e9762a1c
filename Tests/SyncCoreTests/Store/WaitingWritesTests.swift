import Dispatch
import Testing

@testable import SyncCore

/// For whom a group that is being made waits, by itself; times are in microseconds.
@Suite struct WaitingWritesTests {
    @Test func `a group waits a moment for who was answered last, and never longer than a commit`()
    {
        let scene = Scene()
        #expect(scene.arrives() == .first)
        #expect(scene.takeGroup() == 1)
        scene.expect(3, commit: 0...1_000)
        #expect(scene.arrives() == .joined)
        #expect(scene.takeGroup() == 1)
        #expect(scene.more(at: 1_100) == "until 1350")
        #expect(scene.arrives() == .awaited)
        #expect(scene.more(at: 1_200) == "1 joined")
        #expect(scene.more(at: 1_900) == "until 2000")
        #expect(scene.stopGathering())
        #expect(scene.more(at: 2_000) == "nobody")
    }

    @Test func `who writes alone is not kept waiting`() {
        let scene = Scene()
        scene.expect(1, commit: 0...1_000)
        #expect(scene.arrives() == .first)
        #expect(scene.takeGroup() == 1)
        #expect(scene.more(at: 1_010) == "nobody")
    }

    @Test func `the engine's bookings do not stand for the clients who are awaited`() {
        let scene = Scene()
        scene.expect(2, commit: 0...1_000)
        #expect(scene.arrives(takesTime: false) == .first)
        #expect(scene.takeGroup() == 1)
        #expect(scene.more(at: 1_010) == "until 1260")
        #expect(scene.arrives(takesTime: false) == .awaited)
        #expect(scene.arrives() == .joined)
        #expect(scene.arrives() == .joined)
        #expect(scene.more(at: 1_020) == "3 joined")
        #expect(scene.more(at: 1_030) == "nobody")
    }

    @Test func `whoever comes as the wait ends has signalled`() {
        let scene = Scene()
        #expect(scene.arrives() == .first)
        #expect(scene.takeGroup() == 1)
        scene.expect(1, commit: 0...1_000)
        #expect(scene.more(at: 1_010) == "until 1260")
        #expect(scene.arrives() == .awaited)
        #expect(!scene.stopGathering())
        #expect(scene.more(at: 1_300) == "1 joined")
    }
}

private final class Scene {
    private var waiting = WaitingWrites()

    private func at(_ microseconds: Int) -> DispatchTime {
        DispatchTime(uptimeNanoseconds: 1_000_000_000) + .microseconds(microseconds)
    }

    func arrives(takesTime: Bool = true) -> WaitingWrites.Arrival {
        waiting.add(
            WaitingWrites.Entry(
                isBookkeeping: !takesTime, takesTime: takesTime,
                make: { _ in .init(isKept: true) {} }, fail: { _ in }))
    }

    func takeGroup() -> Int { waiting.takeGroup().count }

    func expect(_ clients: Int, commit: ClosedRange<Int>) {
        waiting.expect(
            clients, committedSince: at(commit.lowerBound), now: at(commit.upperBound))
    }

    /// What there is for a group of one.
    func more(at now: Int) -> String {
        switch waiting.takeMore(for: 1, now: at(now)) {
        case .joined(let entries): "\(entries.count) joined"
        case .awaits(let until):
            "until \((until.uptimeNanoseconds - at(0).uptimeNanoseconds) / 1_000)"
        case .nobody: "nobody"
        }
    }

    func stopGathering() -> Bool { waiting.stopGathering() }
}
