/// Every metric of this program: its name, by the conventions of Prometheus, and what it is.
enum Metric: String, CaseIterable {
    case buildInfo = "understudy_build_info"
    case startTime = "understudy_start_time_seconds"
    case backendUp = "understudy_backend_up"
    case requestDuration = "understudy_backend_request_duration_seconds"
    case stores = "understudy_stores"
    case queueOperations = "understudy_queue_operations"
    case oldestAge = "understudy_queue_oldest_operation_age_seconds"
    case operations = "understudy_operations_total"
    case ledgerImbalance = "understudy_ledger_imbalance"
    case syncStalls = "understudy_sync_stalls_total"
    case lastSync = "understudy_last_sync_timestamp_seconds"
    case tableItems = "understudy_table_items"
    case pullsFailing = "understudy_table_pulls_failing"
    case rowsSetAside = "understudy_table_rows_set_aside"
    case rejectedRequests = "understudy_rejected_requests_total"

    /// Its type in the text format.
    var type: String {
        switch self {
        case .operations, .syncStalls, .rejectedRequests: "counter"
        case .requestDuration: "histogram"
        case .buildInfo, .startTime, .backendUp, .stores, .queueOperations, .oldestAge,
            .ledgerImbalance, .lastSync, .tableItems, .pullsFailing, .rowsSetAside:
            "gauge"
        }
    }

    /// What it says, in one sentence.
    var help: String {
        switch self {
        case .buildInfo: "The version of this program."
        case .startTime: "When this process started."
        case .backendUp: "Whether the backend can be reached."
        case .requestDuration:
            "How long the requests of syncing to the backend took, by what they came to."
        case .stores:
            "Stores of identities: open, closed, closed and not looked at since the start, failed to open."
        case .queueOperations: "Open operations by state."
        case .oldestAge:
            "How long the oldest open operation has been waiting; 0 when none is open."
        case .operations: "Operations by what became of them, and all that were accepted."
        case .ledgerImbalance: "1 when the ledger does not balance, which is an alarm."
        case .syncStalls: "How often syncing stood still and was started again."
        case .lastSync: "When the last sync ended well."
        case .tableItems: "Rows of each table."
        case .pullsFailing: "1 for a table whose pulls fail, else 0."
        case .rowsSetAside: "Rows of the backend that are not here, since they cannot be taken."
        case .rejectedRequests: "Requests that were refused, by reason."
        }
    }
}
