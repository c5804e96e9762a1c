import TablesProtocol
import Testing

@testable import Proxy
@testable import SyncCore

struct BackendStatusCacheTests {
    private func show(
        _ backendStatus: BackendStatusCache, _ state: BackendState, _ generation: Generation,
        refresh: Int
    ) {
        backendStatus.show(
            BackendStatus(
                url: "b", state: state, reason: "", since: Instant(milliseconds: 0)),
            mode: .online, SyncSettings(), generation: generation, refresh: refresh)
    }

    @Test func `an earlier refresh never replaces a later one`() {
        let backendStatus = BackendStatusCache()
        let (first, second) = (backendStatus.beginRefresh(), backendStatus.beginRefresh())
        show(backendStatus, .online, .mobileApps, refresh: second)
        show(backendStatus, .offline, .datasync, refresh: first)
        #expect(backendStatus.isOnline)
        #expect(backendStatus.generation == .mobileApps)
        show(backendStatus, .signedOut, .datasync, refresh: backendStatus.beginRefresh())
        #expect(!backendStatus.isOnline && backendStatus.isSignedOut)
        #expect(backendStatus.generation == .datasync)
    }
}
