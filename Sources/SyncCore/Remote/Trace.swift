import HTTPTypes

/// The place of a client's request in a trace (W3C Trace Context), as it is sent on to the backend.
public struct Trace: Sendable, Hashable {
    /// The field `traceparent`.
    public var parent: String
    /// The field `tracestate`; nil if there is none.
    public var state: String?

    /// Makes a trace from its fields.
    public init(parent: String, state: String? = nil) {
        self.parent = parent
        self.state = state
    }

    /// Sets the fields.
    func add(to fields: inout HTTPFields) {
        fields.set("traceparent", parent)
        if let state { fields.set("tracestate", state) }
    }
}
