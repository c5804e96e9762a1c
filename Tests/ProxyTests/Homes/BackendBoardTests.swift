import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

struct BackendBoardTests {
    private func show(
        _ board: BackendBoard, _ state: BackendStatus.State, _ generation: Generation, look: Int
    ) {
        board.show(
            BackendStatus(
                url: "b", state: state, reason: "", since: Instant(milliseconds: 0)),
            mode: .online, SyncSettings(), generation: generation, look: look)
    }

    @Test func `what an earlier look found never replaces what a later one did`() {
        let board = BackendBoard()
        let (first, second) = (board.beginLook(), board.beginLook())
        show(board, .online, .mobileApps, look: second)
        show(board, .offline, .datasync, look: first)
        #expect(board.isOnline)
        #expect(board.generation == .mobileApps)
        show(board, .signedOut, .datasync, look: board.beginLook())
        #expect(!board.isOnline && board.isSignedOut)
        #expect(board.generation == .datasync)
    }
}
