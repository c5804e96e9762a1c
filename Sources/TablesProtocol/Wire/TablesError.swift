/// Why a request on `/tables` is not carried out.
public enum TablesError: Error, Sendable, Hashable {
    /// The body is not acceptable JSON.
    case malformedJSON(JSONError)
    /// The body is JSON, but not one object.
    case notAnObject
    /// The path, query or a header field cannot be read; the sentence says what.
    case badRequest(String)
    /// An id breaks the rules for ids.
    case invalidID(ItemID.Refusal?)
    /// The id in the body is not the one in the path.
    case idMismatch
    /// The query cannot be understood.
    case badQuery(ODataError)
    /// A first generation client asks for a system property that there is none of.
    case unknownSystemProperty(String)
    /// A first generation client sets a property whose name begins with `__`.
    case reservedProperty(String)
    /// `ZUMO-API-VERSION` is of no known generation.
    case unsupportedVersion
    /// `X-HTTP-Method-Override` is not honoured.
    case methodOverride
    /// The body is not JSON by its content type.
    case unsupportedContentType
    /// The body is longer than is read.
    case bodyTooLarge(limitBytes: Int)
    /// The route does not take the method; these it takes.
    case methodNotAllowed(allow: [String])
    /// There is no table of this name.
    case unknownTable(String)
    /// There is no item with this id.
    case notFound(ItemID)
    /// The item is deleted; the third generation says so.
    case gone(ItemID)
    /// The item is not as the request's conditions want it; here it is as it is.
    case preconditionFailed(Item)
    /// An item with the id exists already; here it is, when it may be shown.
    case conflict(Item?)
    /// The If-Match field cannot be read.
    case invalidIfMatch(String)
    /// The answer is not known here and the backend cannot be reached.
    case offline(retryAfterSeconds: Int)
    /// The caller must sign in; the sentence may say how.
    case unauthorized(_ sentence: String = "Unauthorized")
    /// The caller may not do this; the sentence says why.
    case forbidden(String)
    /// The disk is full: nothing was written.
    case storageFull
    /// Nothing was done for the moment; the sentence says why.
    case unavailable(String, retryAfterSeconds: Int)
    /// The backend's generation has nothing like it; the sentence says what.
    case untranslatable(String)
    /// The backend refused, with this status; the sentence says why.
    case refusedByBackend(status: Int, String)
    /// Something is broken here; the sentence says what.
    case failed(String)
}
