import HTTPMessage
import Synchronization

/// What all connections of one server share. libmicrohttpd's callbacks get a pointer to it.
final class ServerCore: Sendable {
    let handler: any HTTPHandler
    let limits: Limits
    let observer: (any RequestObserver)?
    let refused: @Sendable (RefusalReason) -> Void
    let lookout: Lookout
    let suspensions: Suspensions
    let workers = Workers()
    let exchanges: OpenExchanges
    let bodies: BodyMemory

    init(
        handler: any HTTPHandler, observer: (any RequestObserver)?, limits: Limits,
        lookout: Lookout, exchanges: OpenExchanges, changes: OpenExchanges,
        refused: @escaping @Sendable (RefusalReason) -> Void
    ) {
        self.handler = handler
        self.observer = observer
        self.limits = limits
        self.lookout = lookout
        self.exchanges = exchanges
        suspensions = Suspensions(changes: changes)
        bodies = BodyMemory(bytes: limits.bodiesBytes)
        self.refused = refused
    }
}
