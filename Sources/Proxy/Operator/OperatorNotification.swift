import HTTPMessage
import HTTPTypes
import SyncCore

extension OperatorAPI {
    /// `GET /notify`: which webhook is told, and the last message.
    func notification(_: OperatorCall) async -> Response {
        let (webhook, last) = await (notifier.webhook, notifier.last)
        return .json(
            Answers.NotificationState(target: webhook?.description, last: last))
    }

    /// `POST /notify/test`: sends a message that only shows that messages arrive.
    func testNotification(_: OperatorCall) async throws(Problem) -> Response {
        guard let delivery = await notifier.test() else {
            throw Problem(
                status: .conflict, code: "no-notify-target",
                detail: "No message is sent: say notify in the configuration.")
        }
        return .json(delivery)
    }
}
