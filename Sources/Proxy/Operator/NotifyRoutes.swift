import HTTPMessage
import HTTPTypes

/// The webhook that is told when a person is needed.
package struct NotifyRoutes: Sendable {
    let notifier: Notifier

    package static let show = Route<Answers.NotificationState>(
        .get, "/notify", "notification", .status,
        "The webhook that is told when a person is needed, and the last message",
        answers: "Of the webhook scheme and host alone: the rest of its address is a secret.",
        of: .program)
    package static let test = Route<Answers.NotificationDelivery>(
        .post, "/notify/test", "testNotification", .status,
        "Send a message that only shows that messages arrive",
        answers: "It was sent, or could not be sent; `result` says what came back.", of: .program,
        also: [409: "The configuration names no webhook."])

    var routes: [OperatorRoute] {
        [
            .later(Self.show) { _ in
                Answers.NotificationState(
                    target: await notifier.webhook?.description, last: await notifier.last)
            },
            .later(Self.test, isChange: false) { _ in
                guard let delivery = await notifier.test() else {
                    throw Problem(
                        status: .conflict, code: "no-notify-target",
                        detail: "No message is sent: say notify in the configuration.")
                }
                return delivery
            },
        ]
    }
}
