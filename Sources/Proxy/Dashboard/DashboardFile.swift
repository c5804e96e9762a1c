import Compression
import Crypto
import HTTPMessage
import HTTPTypes

/// One file of the dashboard, embedded in the binary.
struct DashboardFile: Sendable {
    /// The name in the URL, `/-/NAME`.
    let name: String
    /// The content.
    let bytes: [UInt8]
    /// The content as gzip; nil where that is not smaller. It is made once, with the first request for a file.
    let gzip: [UInt8]?
    /// A digest of the content, which tells one build's file from another's.
    let digest: String

    /// Makes a file from its name and content.
    init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
        gzip = gzipped(bytes)
        digest = String(SHA256.hash(data: bytes).hexadecimal.prefix(Limits.entityTagDigits))
    }

    /// Every file of `Public`. Only these are served; a test compares the list with the folder.
    static let all: [DashboardFile] = [
        DashboardFile(name: "access.js", bytes: PackageResources.access_js),
        DashboardFile(name: "api-preview.js", bytes: PackageResources.api_preview_js),
        DashboardFile(name: "api.js", bytes: PackageResources.api_js),
        DashboardFile(name: "app.js", bytes: PackageResources.app_js),
        DashboardFile(name: "clipboard.js", bytes: PackageResources.clipboard_js),
        DashboardFile(name: "coalesce.js", bytes: PackageResources.coalesce_js),
        DashboardFile(name: "conflict-card.js", bytes: PackageResources.conflict_card_js),
        DashboardFile(name: "conflict-field.js", bytes: PackageResources.conflict_field_js),
        DashboardFile(name: "conflicts-actions.js", bytes: PackageResources.conflicts_actions_js),
        DashboardFile(
            name: "conflicts-rendering.js", bytes: PackageResources.conflicts_rendering_js),
        DashboardFile(name: "conflicts-state.js", bytes: PackageResources.conflicts_state_js),
        DashboardFile(name: "conflicts.css", bytes: PackageResources.conflicts_css),
        DashboardFile(name: "conflicts.js", bytes: PackageResources.conflicts_js),
        DashboardFile(name: "connection-state.js", bytes: PackageResources.connection_state_js),
        DashboardFile(name: "connection.js", bytes: PackageResources.connection_js),
        DashboardFile(name: "dialog.js", bytes: PackageResources.dialog_js),
        DashboardFile(name: "diff.js", bytes: PackageResources.diff_js),
        DashboardFile(name: "dom.js", bytes: PackageResources.dom_js),
        DashboardFile(name: "drafts.js", bytes: PackageResources.drafts_js),
        DashboardFile(name: "events.js", bytes: PackageResources.events_js),
        DashboardFile(name: "first-contact.js", bytes: PackageResources.first_contact_js),
        DashboardFile(name: "formats.js", bytes: PackageResources.formats_js),
        DashboardFile(name: "frame.js", bytes: PackageResources.frame_js),
        DashboardFile(name: "history-changes.js", bytes: PackageResources.history_changes_js),
        DashboardFile(name: "history-runs.js", bytes: PackageResources.history_runs_js),
        DashboardFile(name: "history-state.js", bytes: PackageResources.history_state_js),
        DashboardFile(name: "history.js", bytes: PackageResources.history_js),
        DashboardFile(name: "icon.svg", bytes: PackageResources.icon_svg),
        DashboardFile(name: "index.html", bytes: PackageResources.index_html),
        DashboardFile(name: "json-place.js", bytes: PackageResources.json_place_js),
        DashboardFile(name: "keys.js", bytes: PackageResources.keys_js),
        DashboardFile(name: "longlist.js", bytes: PackageResources.longlist_js),
        DashboardFile(name: "messages.js", bytes: PackageResources.messages_js),
        DashboardFile(name: "new-row.js", bytes: PackageResources.new_row_js),
        DashboardFile(name: "operation-answer.js", bytes: PackageResources.operation_answer_js),
        DashboardFile(name: "operation-editor.js", bytes: PackageResources.operation_editor_js),
        DashboardFile(name: "operation.js", bytes: PackageResources.operation_js),
        DashboardFile(name: "overview-plots.js", bytes: PackageResources.overview_plots_js),
        DashboardFile(name: "overview-state.js", bytes: PackageResources.overview_state_js),
        DashboardFile(name: "overview-table.js", bytes: PackageResources.overview_table_js),
        DashboardFile(name: "overview.css", bytes: PackageResources.overview_css),
        DashboardFile(name: "overview.js", bytes: PackageResources.overview_js),
        DashboardFile(name: "paced.js", bytes: PackageResources.paced_js),
        DashboardFile(name: "plot.js", bytes: PackageResources.plot_js),
        DashboardFile(name: "press.js", bytes: PackageResources.press_js),
        DashboardFile(name: "queue-actions.js", bytes: PackageResources.queue_actions_js),
        DashboardFile(name: "queue-causes.js", bytes: PackageResources.queue_causes_js),
        DashboardFile(name: "queue-print.js", bytes: PackageResources.queue_print_js),
        DashboardFile(name: "queue-rendering.js", bytes: PackageResources.queue_rendering_js),
        DashboardFile(name: "queue-rows.js", bytes: PackageResources.queue_rows_js),
        DashboardFile(name: "queue-state.js", bytes: PackageResources.queue_state_js),
        DashboardFile(name: "queue.css", bytes: PackageResources.queue_css),
        DashboardFile(name: "queue.js", bytes: PackageResources.queue_js),
        DashboardFile(name: "row-card.js", bytes: PackageResources.row_card_js),
        DashboardFile(name: "row-editor.js", bytes: PackageResources.row_editor_js),
        DashboardFile(name: "row-field.js", bytes: PackageResources.row_field_js),
        DashboardFile(name: "row-values.js", bytes: PackageResources.row_values_js),
        DashboardFile(name: "runs.js", bytes: PackageResources.runs_js),
        DashboardFile(name: "settings.js", bytes: PackageResources.settings_js),
        DashboardFile(name: "status.js", bytes: PackageResources.status_js),
        DashboardFile(name: "style.css", bytes: PackageResources.style_css),
        DashboardFile(name: "table-choice.js", bytes: PackageResources.table_choice_js),
        DashboardFile(name: "tables-actions.js", bytes: PackageResources.tables_actions_js),
        DashboardFile(name: "tables-columns.js", bytes: PackageResources.tables_columns_js),
        DashboardFile(name: "tables-grid.js", bytes: PackageResources.tables_grid_js),
        DashboardFile(name: "tables-head.js", bytes: PackageResources.tables_head_js),
        DashboardFile(name: "tables-rendering.js", bytes: PackageResources.tables_rendering_js),
        DashboardFile(name: "tables-side.js", bytes: PackageResources.tables_side_js),
        DashboardFile(name: "tables-sidebar.js", bytes: PackageResources.tables_sidebar_js),
        DashboardFile(name: "tables-state.js", bytes: PackageResources.tables_state_js),
        DashboardFile(name: "tables.css", bytes: PackageResources.tables_css),
        DashboardFile(name: "tables.js", bytes: PackageResources.tables_js),
        DashboardFile(name: "theme.js", bytes: PackageResources.theme_js),
        DashboardFile(name: "todo-actions.js", bytes: PackageResources.todo_actions_js),
        DashboardFile(name: "todo-edit-field.js", bytes: PackageResources.todo_edit_field_js),
        DashboardFile(name: "todo-edit-note.js", bytes: PackageResources.todo_edit_note_js),
        DashboardFile(name: "todo-edit.js", bytes: PackageResources.todo_edit_js),
        DashboardFile(
            name: "todo-list-rendering.js", bytes: PackageResources.todo_list_rendering_js),
        DashboardFile(name: "todo-list-state.js", bytes: PackageResources.todo_list_state_js),
        DashboardFile(name: "todo-list.js", bytes: PackageResources.todo_list_js),
        DashboardFile(name: "todo-new.js", bytes: PackageResources.todo_new_js),
        DashboardFile(name: "todo-row.js", bytes: PackageResources.todo_row_js),
        DashboardFile(name: "todo-source.js", bytes: PackageResources.todo_source_js),
        DashboardFile(name: "todos.js", bytes: PackageResources.todos_js),
        DashboardFile(name: "undo.js", bytes: PackageResources.undo_js),
        DashboardFile(name: "unsaved.js", bytes: PackageResources.unsaved_js),
        DashboardFile(name: "views.css", bytes: PackageResources.views_css),
        DashboardFile(name: "words-conflicts.js", bytes: PackageResources.words_conflicts_js),
        DashboardFile(name: "words-overview.js", bytes: PackageResources.words_overview_js),
        DashboardFile(name: "words-parts.js", bytes: PackageResources.words_parts_js),
        DashboardFile(name: "words-queue.js", bytes: PackageResources.words_queue_js),
        DashboardFile(name: "words-settings.js", bytes: PackageResources.words_settings_js),
        DashboardFile(name: "words-tables.js", bytes: PackageResources.words_tables_js),
        DashboardFile(name: "words.js", bytes: PackageResources.words_js),
    ]

    /// The file with a name.
    static func named(_ name: String) -> DashboardFile? { all.first { $0.name == name } }

    /// The media type, by the ending of the name.
    var mediaType: String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js", "mjs": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        case "ico": "image/x-icon"
        case "json": "application/json"
        case "webmanifest": "application/manifest+json"
        case "woff2": "font/woff2"
        default: "application/octet-stream"
        }
    }
}

extension DashboardFile {
    /// The file as a response. The content security policy lets a page load its own files and call its own
    /// server, and nothing else: no inline script, no other site, no frame around it. Scripts and styles
    /// are only loaded from `/-/`, since the backend's answers have the same origin.
    ///
    /// A browser asks again each time it loads the page (`no-cache`). Where it has this content already, the
    /// answer is 304 without a body.
    /// - Parameters:
    ///   - authority: host and port of the request; no IPv6 address, which a policy cannot name.
    ///   - asked: the fields of the request: which codings it takes, and which content it has.
    func response(authority: String, asked: HTTPFields) -> Response {
        let compressed = asked.acceptGzip ? gzip : nil
        let tag = compressed == nil ? "\"\(digest)\"" : "\"\(digest)-gzip\""
        var fields = HTTPFields()
        fields[.eTag] = tag
        fields[.vary] = "Accept-Encoding"
        fields[.contentType] = mediaType
        fields[.cacheControl] = "no-cache"
        fields[.contentSecurityPolicy] =
            "default-src 'none'; script-src \(authority)/-/; style-src \(authority)/-/; "
            + "worker-src 'none'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "
            + "manifest-src 'self'; base-uri 'none'; "
            + "form-action 'none'; frame-ancestors 'none'"
        fields[.xContentTypeOptions] = "nosniff"
        fields[.resourcePolicy] = "same-origin"
        fields[.openerPolicy] = "same-origin"
        fields[.referrerPolicy] = "no-referrer"
        if asked.haveContent(tagged: tag) {
            return Response(status: .notModified, headerFields: fields)
        }
        if compressed != nil { fields[.contentEncoding] = "gzip" }
        return Response(status: .ok, headerFields: fields, body: compressed ?? bytes)
    }
}

// What a request says about codings and about the content that its client keeps.
extension HTTPFields {
    /// Whether `Accept-Encoding` names gzip, or else `*`, and does not rule it out with `q=0`.
    var acceptGzip: Bool { takes(coding: "gzip") ?? takes(coding: "*") ?? false }

    /// Whether `Accept-Encoding` takes a coding; nil where it does not name it.
    private func takes(coding: String) -> Bool? {
        for element in elements(of: .acceptEncoding) {
            let parts = element.split(separator: ";").map { trimmed($0).lowercased() }
            guard parts.first == coding else { continue }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }
            return quality.map { (Double($0.dropFirst(2)) ?? 0) > 0 } ?? true
        }
        return nil
    }

    /// Whether `If-None-Match` names the tag. The comparison is weak (RFC 9110, 13.1.2).
    func haveContent(tagged tag: String) -> Bool {
        elements(of: .ifNoneMatch).contains { $0 == "*" || $0 == tag || $0 == "W/\(tag)" }
    }

    /// The elements of a field that is a list, without the spaces around them.
    private func elements(of name: HTTPField.Name) -> [Substring] {
        (self[name] ?? "").split(separator: ",").map { trimmed($0) }
    }
}

private func trimmed(_ text: Substring) -> Substring {
    let isSpace = { (letter: Character) in letter == " " || letter == "\t" }
    var text = text.drop(while: isSpace)
    while let last = text.last, isSpace(last) { text.removeLast() }
    return text
}
