import Testing

@testable import SyncCore

@Suite struct RequestedRowsTests {
    /// The requests of one pull in front of a backend that refuses more than `limit` rows, and what the next pull
    /// starts with.
    private func pull(
        _ size: RequestedRows, limit: Int
    ) -> (requests: [Int], next: (accepted: Int?, pullsToWait: Int)) {
        var size = size
        var requests = [size.rows]
        while size.rows > limit, size.reduce(to: 50) { requests.append(size.rows) }
        size.accept()
        return (requests, size.next)
    }

    @Test(arguments: [50, 99, 100, 250, 999])
    func `a limited backend is soon asked for nearly as much as it gives, and seldom refuses`(
        limit: Int
    ) {
        var size = RequestedRows(most: 1000)
        var sizes: [Int] = []
        var refusals = 0
        for _ in 0..<200 {
            let (requests, next) = pull(size, limit: limit)
            #expect(requests.last.map { $0 <= limit } == true)
            refusals += requests.count - 1
            sizes.append(requests.last ?? 0)
            size = RequestedRows(
                most: 1000, accepted: next.accepted, pullsToWait: next.pullsToWait)
        }
        #expect(sizes.first == 50)
        #expect(sizes.suffix(150).allSatisfy { 2 * $0 > limit }, "\(sizes)")
        #expect(refusals <= 200 / SyncLimits.pullsBeforeLargerPages + 1)
    }

    @Test func `a backend whose limit was raised is asked for whole pages again`() {
        var next = pull(RequestedRows(most: 1000), limit: 60).next
        #expect(next.accepted == 50 && next.pullsToWait == SyncLimits.pullsBeforeLargerPages)
        var pulls = 0
        while next.accepted != nil, pulls < 100 {
            let size = RequestedRows(
                most: 1000, accepted: next.accepted, pullsToWait: next.pullsToWait)
            let pull = pull(size, limit: 5000)
            #expect(pull.requests.count == 1)
            next = pull.next
            pulls += 1
        }
        #expect(pulls <= SyncLimits.pullsBeforeLargerPages + 6)
        #expect(next.accepted == nil && next.pullsToWait == 0)
    }

    @Test func `a refusal that has another reason changes nothing`() {
        for size in [
            RequestedRows(most: 1000), RequestedRows(most: 1000, accepted: 100, pullsToWait: 0),
            RequestedRows(most: 1000, accepted: 100, pullsToWait: 3),
        ] {
            var refused = size
            while refused.reduce(to: 50) {}
            refused.undoUntested()
            #expect(refused == size)
        }
        var small = RequestedRows(most: 20)
        let isReduced = small.reduce(to: 50)
        #expect(!isReduced && small.next.accepted == nil)
    }
}
