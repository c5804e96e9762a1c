public import HTTPTypes

/// Why a request on `/tables` is refused or fails.
public enum TablesError: Error, Sendable, Hashable {
    case malformedJSON(JSONError)
    /// The body is JSON, but not one object.
    case notAnObject
    /// The path, the query or a header field is invalid, for the reason in the sentence.
    case badRequest(String)
    case invalidID(ItemID.Refusal?)
    /// The id in the body differs from the id in the path.
    case idMismatch
    case badQuery(ODataError)
    /// A first generation client requests a system property that does not exist.
    case unknownSystemProperty(String)
    /// A first generation client sets a property whose name begins with `__`.
    case reservedProperty(String)
    /// `ZUMO-API-VERSION` is unknown.
    case unsupportedVersion
    /// `X-HTTP-Method-Override` is not supported.
    case methodOverride
    case unsupportedContentType
    case bodyTooLarge(limitBytes: Int)
    /// The method is not allowed; these are.
    case methodNotAllowed(allow: [String])
    case unknownTable(String)
    case notFound(ItemID)
    /// The item is deleted; the third generation says so.
    case gone(ItemID)
    /// The item does not meet the request's conditions; with the present item.
    case preconditionFailed(Item)
    /// An item with the id exists already; with the item, if the client may see it.
    case conflict(Item?)
    case invalidIfMatch(String)
    /// The store does not have the answer, and the backend cannot be reached.
    case offline(retryAfterSeconds: Int)
    /// The client must sign in; the sentence may say how.
    case unauthorized(_ sentence: String = "Unauthorized")
    /// The client is not allowed to do this, for the reason in the sentence.
    case forbidden(String)
    /// The disk is full, or the store has used its budget: nothing was written.
    case storageFull(byBudget: Bool)
    /// Temporarily not possible, for the reason in the sentence.
    case unavailable(String, retryAfterSeconds: Int)
    /// The backend's generation cannot express the request, for the reason in the sentence.
    case untranslatable(String)
    /// The backend refused the request with this status, for the reason in the sentence.
    case refusedByBackend(status: Int, String)
    /// An internal failure, which the sentence describes.
    case failed(String)
}

extension TablesError {
    /// The error for a query that only the backend can answer, and that it could not be asked.
    public static func onlyBackendAnswers(_ reason: ODataError) -> TablesError {
        .untranslatable(
            "Only the backend can answer this query, and it cannot be asked: it is out of reach, it is of "
                + "another generation than the client, or changes of the table wait to be sent. "
                + reason.description)
    }

    public func status(in generation: Generation) -> HTTPResponse.Status {
        switch self {
        case .malformedJSON, .notAnObject, .badRequest, .invalidID, .idMismatch, .badQuery,
            .unknownSystemProperty, .reservedProperty, .unsupportedVersion, .methodOverride,
            .invalidIfMatch:
            .badRequest
        case .unsupportedContentType: .unsupportedMediaType
        case .bodyTooLarge: .contentTooLarge
        case .methodNotAllowed: .methodNotAllowed
        case .unknownTable, .notFound: .notFound
        case .gone: generation == .datasync ? .gone : .notFound
        case .preconditionFailed: .preconditionFailed
        case .conflict: .conflict
        case .offline, .unavailable: .serviceUnavailable
        case .unauthorized: .unauthorized
        case .untranslatable: .notImplemented
        case .forbidden: .forbidden
        case .storageFull: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
        case .refusedByBackend(410, _): generation == .datasync ? .gone : .notFound
        case .refusedByBackend(let status, _): HTTPResponse.Status(code: status)
        case .failed: .internalServerError
        }
    }

    /// One sentence for a person; that of the generation's real servers, if they have one.
    public func sentence(in generation: Generation) -> String {
        switch self {
        case .malformedJSON(let error): error.description
        case .notAnObject: "A single (valid) JSON object is expected."
        case .badRequest(let sentence), .forbidden(let sentence), .unavailable(let sentence, _),
            .unauthorized(let sentence), .untranslatable(let sentence), .failed(let sentence),
            .refusedByBackend(_, let sentence):
            sentence
        case .invalidID:
            "The value specified for property 'id' is invalid. An id must be 1 to "
                + "\(Limits.idUnits) characters long and must not contain any control characters "
                + "or the characters \",+,?,\\,/,`."
        case .idMismatch:
            generation == .mobileServices
                ? "When specified in the body, 'id' must match the id specified in the url."
                : "The item ID and querystring ID did not match"
        case .badQuery(let error):
            error.option == "$filter"
                ? "Invalid query specified. Error: \(error.reason) (at index \(error.position))"
                : error.description
        case .unknownSystemProperty(let name):
            "The value '\(name)' is not a supported system property."
        case .reservedProperty(let name):
            "The property '\(name)' can not be set. Properties that begin with a '__' are "
                + "considered system properties."
        case .unsupportedVersion:
            "An invalid API version was specified in the request, this request needs to specify "
                + "a ZUMO-API-VERSION of 2.0.0 or 3.0.0."
        case .methodOverride: "X-HTTP-Method-Override is not supported."
        case .unsupportedContentType: "The content type must be application/json in UTF-8."
        case .bodyTooLarge(let limit):
            "Request body maximum size limit was exceeded: \(limit) bytes."
        case .methodNotAllowed: "The method is not allowed here."
        case .unknownTable(let name): "Table '\(name)' does not exist."
        case .notFound(let id), .gone(let id):
            generation == .mobileServices
                ? "An item with id '\(id)' does not exist." : "The item does not exist"
        case .preconditionFailed:
            "The item has been changed since it was read."
        case .conflict:
            "Could not insert the item because an item with that id already exists."
        case .invalidIfMatch: "Invalid 'if-match' header."
        case .offline: "The backend cannot be reached, and the answer is not known here."
        case .storageFull(byBudget: false): "The disk is full; nothing was written."
        case .storageFull(byBudget: true):
            "The disk budget of the store is used up (disk-budget); nothing was written."
        }
    }

    /// After how many seconds the client may retry; nil if a retry does not help.
    var retryAfterSeconds: Int? {
        switch self {
        case .offline(let seconds), .unavailable(_, let seconds): seconds
        case .malformedJSON, .notAnObject, .badRequest, .invalidID, .idMismatch, .badQuery,
            .unknownSystemProperty, .reservedProperty, .unsupportedVersion, .methodOverride,
            .invalidIfMatch, .unsupportedContentType, .bodyTooLarge, .methodNotAllowed,
            .unknownTable, .notFound, .gone, .preconditionFailed, .conflict,
            .unauthorized, .untranslatable, .forbidden, .storageFull, .refusedByBackend, .failed:
            nil
        }
    }

    /// The item that the request conflicts with; nil if there is none, if the client may not see it, and for
    /// an existing id in the first generation.
    func item(shownTo generation: Generation) -> Item? {
        switch self {
        case .preconditionFailed(let item): item
        case .conflict(let item): generation == .mobileServices ? nil : item
        case .malformedJSON, .notAnObject, .badRequest, .invalidID, .idMismatch, .badQuery,
            .unknownSystemProperty, .reservedProperty, .unsupportedVersion, .methodOverride,
            .invalidIfMatch, .unsupportedContentType, .bodyTooLarge, .methodNotAllowed,
            .unknownTable, .notFound, .gone, .offline, .unavailable, .unauthorized, .forbidden,
            .untranslatable, .storageFull, .refusedByBackend, .failed:
            nil
        }
    }
}
