/// What has to happen outside once a transaction is committed. Lives and dies with it, on one thread.
final class TransactionEffects {
    /// What to tell the dashboard.
    var events: [Event] = []
    /// Settings or column names of a table changed, so what readers remember is old.
    var changedTables = false
    /// There may be something to send.
    var madeWork = false
}
