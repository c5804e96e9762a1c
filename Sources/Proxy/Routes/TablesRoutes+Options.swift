import HTTPMessage
import HTTPTypes
import TablesProtocol

// What a path can be asked. A preflight of another origin's page was answered by the guard before.
extension TablesRoutes {
    /// Answers OPTIONS: 200 with `Allow`, from the path alone. Neither store nor backend is asked.
    func options(_ request: Request) -> Response {
        let client = ClientFamily.detect(request, default: defaultGeneration)
        let answer = TablesAnswer(client: client)
        do {
            let path = try TablePath(request.path)
            guard tables?.contains(path.table) ?? true else {
                return answer.render(error: .unknownTable(path.table.text))
            }
            let methods = try TableCall.allowedMethods(
                request, defaultGeneration: defaultGeneration)
            return Response(
                status: .ok, headerFields: [.allow: methods.joined(separator: ", ")])
        } catch {
            return answer.render(error: error)
        }
    }
}
