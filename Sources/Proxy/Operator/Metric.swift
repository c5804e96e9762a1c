/// The metrics of this program. The raw value is the name, by the conventions of Prometheus. Those of the
/// process have the names that Prometheus' client libraries give them.
enum Metric: String, CaseIterable {
    case buildInfo = "understudy_build_info"
    case backendUp = "understudy_backend_up"
    case changesFollowed = "understudy_backend_changes_followed"
    case requestDuration = "understudy_backend_request_duration_seconds"
    case clientRequestDuration = "understudy_client_request_duration_seconds"
    case stores = "understudy_stores"
    case queueOperations = "understudy_queue_operations"
    case oldestAge = "understudy_queue_oldest_operation_age_seconds"
    case accepted = "understudy_operations_accepted_total"
    case operations = "understudy_operations_total"
    case conflicts = "understudy_conflicts_total"
    case quarantined = "understudy_quarantined_total"
    case retries = "understudy_operation_retries_total"
    case ledgerImbalance = "understudy_ledger_imbalance"
    case syncStalls = "understudy_sync_stalls_total"
    case lastSync = "understudy_last_sync_timestamp_seconds"
    case tableItems = "understudy_table_items"
    case pushesFailing = "understudy_table_pushes_failing"
    case pullsFailing = "understudy_table_pulls_failing"
    case paused = "understudy_table_paused"
    case rowsSetAside = "understudy_table_rows_set_aside"
    case rowsMended = "understudy_table_rows_mended"
    case lastBackup = "understudy_last_backup_timestamp_seconds"
    case backupFailing = "understudy_backup_failing"
    case rejectedRequests = "understudy_rejected_requests_total"
    case refusedWrites = "understudy_refused_writes_total"
    case storeBytes = "understudy_store_bytes"
    case storeLogBytes = "understudy_store_log_bytes"
    case budgetUsed = "understudy_disk_budget_used_ratio"
    case diskFreeBytes = "understudy_disk_free_bytes"
    case processCPU = "process_cpu_seconds_total"
    case processOpenFiles = "process_open_fds"
    case processMaxFiles = "process_max_fds"
    case processVirtualBytes = "process_virtual_memory_bytes"
    case processMaxVirtualBytes = "process_virtual_memory_max_bytes"
    case processResidentBytes = "process_resident_memory_bytes"
    case processStartTime = "process_start_time_seconds"

    var type: String {
        switch self {
        case .accepted, .operations, .conflicts, .quarantined, .retries, .syncStalls,
            .rejectedRequests, .refusedWrites, .processCPU:
            "counter"
        case .requestDuration, .clientRequestDuration: "histogram"
        case .buildInfo, .backendUp, .changesFollowed, .stores, .queueOperations, .oldestAge,
            .ledgerImbalance, .lastSync, .tableItems, .pushesFailing, .pullsFailing, .paused,
            .rowsSetAside, .rowsMended, .lastBackup, .backupFailing, .storeBytes, .storeLogBytes,
            .budgetUsed, .diskFreeBytes, .processOpenFiles, .processMaxFiles, .processVirtualBytes,
            .processMaxVirtualBytes, .processResidentBytes, .processStartTime:
            "gauge"
        }
    }

    /// The help text, one sentence.
    var help: String {
        switch self {
        case .buildInfo: "The version of this program."
        case .backendUp: "Whether the backend can be used: 1 while it gives lists, else 0."
        case .changesFollowed:
            "1 while the backend's stream of changes is followed, else 0."
        case .requestDuration:
            "How long the requests of syncing to the backend took, by what they came to."
        case .clientRequestDuration:
            "How long the requests of clients to /tables took, by table, verb and status."
        case .stores:
            "Stores of identities: open, closed, closed and not looked at since the start, failed to open."
        case .queueOperations: "Open operations by state."
        case .oldestAge:
            "How long the oldest operation has been waiting, for the backend or a person; 0 when none is."
        case .accepted: "Operations that were accepted."
        case .operations: "Closed operations by what became of them."
        case .conflicts: "How often an operation came into conflict."
        case .quarantined: "How often the backend refused an operation for good."
        case .retries: "How often an operation was sent again."
        case .ledgerImbalance: "1 when the ledger does not balance, which is an alarm."
        case .syncStalls: "How often syncing stood still and was started again."
        case .lastSync: "When the last sync since the start ended that pulled every table."
        case .tableItems: "Rows of each table."
        case .pushesFailing:
            "1 for a table whose changes wait because the backend fails for it, else 0."
        case .pullsFailing: "1 for a table whose pulls fail, else 0."
        case .paused: "1 for a table that a person has paused, else 0."
        case .rowsSetAside: "Rows of the backend that are not here, since they cannot be taken."
        case .rowsMended:
            "Rows that no pull had shown and that comparisons with the backend have mended, in open stores."
        case .lastBackup: "When the latest backup of the backup folder began."
        case .backupFailing: "1 when the last try to make a backup failed, else 0."
        case .rejectedRequests: "Requests that were refused, by reason."
        case .refusedWrites: "Writes that a store refused whatever they were, by reason."
        case .storeBytes: "Size of the files of the stores."
        case .storeLogBytes: "Size of the write-ahead logs of the stores."
        case .budgetUsed:
            "The part of the disk budget that is in use, of the fullest open store; from 0 to 1."
        case .diskFreeBytes: "Free bytes on the disk of the data folder."
        case .processCPU: "Total user and system CPU time spent in seconds."
        case .processOpenFiles: "Number of open file descriptors."
        case .processMaxFiles: "Maximum number of open file descriptors."
        case .processVirtualBytes: "Virtual memory size in bytes."
        case .processMaxVirtualBytes: "Maximum amount of virtual memory available in bytes."
        case .processResidentBytes: "Resident memory size in bytes."
        case .processStartTime: "Start time of the process since unix epoch in seconds."
        }
    }
}
