import HTTPMessage
import HTTPTypes
import SyncCore

// Who is told what, and whether messages arrive.
extension OperatorAPI {
    /// `GET /notify`: who is told what, and the last message.
    func notification(_: OperatorCall) async -> Response {
        .json(Answers.NotificationState(await notifier.state))
    }

    /// `POST /notify/test`: sends a message that only shows that messages arrive.
    func testNotification(_: OperatorCall) async throws(Problem) -> Response {
        guard let delivery = await notifier.test() else {
            throw Problem(
                status: .conflict, code: "no-notify-target",
                detail:
                    "No message is sent: say notify or notify-command in the configuration.")
        }
        return .json(Answers.NotificationDelivery(delivery))
    }
}

extension Answers.NotificationState {
    init(_ state: Notifier.State) {
        let plan = state.plan
        let target: String? =
            switch plan.target {
            case .webhook(let webhook): webhook.description
            case .command(let path): path
            case nil: nil
            }
        self.init(
            target: target, events: NotifiedEvent.allCases.filter(plan.events.contains),
            hasValues: plan.hasValues, untold: state.untold,
            last: state.last.map { .init($0) }, nextTryAt: state.nextTry)
    }
}

extension Answers.NotificationDelivery {
    init(_ delivery: Notifier.Delivery) {
        self.init(
            at: delivery.at, isTest: delivery.isTest, isDelivered: delivery.isDelivered,
            result: delivery.result)
    }
}
