public import HTTPMessage

extension TableCall {
    /// The methods that a path on `/tables` takes from the client that asks, as `Allow` of an answer to
    /// OPTIONS lists them: those that name a verb, HEAD where GET is one, and OPTIONS itself. The version
    /// of the protocol is not judged, as on the Node server.
    /// - Parameters:
    ///   - request: any request to the path, its target undecoded.
    ///   - defaultGeneration: what a request without any mark of its SDK is taken for.
    /// - Throws: ``TablesError`` for a path that names neither a table nor an item.
    public static func allowedMethods(
        _ request: Request, defaultGeneration: Generation
    ) throws(TablesError) -> [String] {
        let path = try TablePath(request.path)
        let client = ClientFamily.detect(request, default: defaultGeneration)
        let verbs = methods(onItem: path.id != nil, client.generation)
        return verbs.flatMap { $0 == "GET" ? ["GET", "HEAD"] : [$0] } + ["OPTIONS"]
    }
}
