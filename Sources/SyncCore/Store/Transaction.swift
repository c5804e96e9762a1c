import GRDB
import TablesProtocol

/// An open transaction on the store: what the engine's own steps are written against. The caller
/// owns it; nothing in it waits for the network.
struct Transaction {
    let db: Database
    let identity: String
    /// The time of the transaction: the same for everything in it.
    let now: Instant
    let ids: any IDSource
}
