import HTTPServer
import HTTPTypes
import Proxy

/// Gives each ended request to several observers, of those that watch.
struct RequestObservers: RequestObserver {
    let all: [any RequestObserver]

    var isWatching: Bool { all.contains { $0.isWatching } }

    func ended(_ request: EndedRequest) {
        for observer in all where observer.isWatching { observer.ended(request) }
    }
}

/// Counts the clients' requests to `/tables` for the metrics.
struct ClientRequestCounter: RequestObserver {
    let graph: AppGraph

    var isWatching: Bool { true }

    func ended(_ request: EndedRequest) {
        guard let head = request.head else { return }
        graph.count(head, status: request.status?.code, took: request.duration)
    }
}
