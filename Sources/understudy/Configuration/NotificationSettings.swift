import Program
import Proxy

// Who is told what happens.
extension Settings {
    static let notify = Setting<Webhook>(
        name: "notify",
        allowed: "the https address of a webhook, without a user or a fragment (http only on this "
            + "machine), such as https://hooks.example/services/T0/B0/SECRET",
        about: SettingText(
            "The webhook that is told what a person has to know, by POST of JSON. Its path is a secret: "
                + "say it in the file, since every user sees the flags of a process.",
            valueName: "url", standard: "none",
            example: "https://hooks.example/services/T0/B0/SECRET", isSecret: true),
        reload: .replaced
    ) { Webhook($0, isLoopback: \.isLoopback) }

    static let notifyCommand = Setting<String>(
        name: "notify-command",
        allowed: "the absolute path of a program, such as /etc/understudy/tell",
        about: SettingText(
            "The program that is told instead: it gets the JSON on its standard input. No shell reads "
                + "this, so there are no arguments.",
            valueName: "path", standard: "none", example: "/etc/understudy/tell"),
        reload: .replaced
    ) { $0.hasPrefix("/") ? $0 : nil }

    static let notifyEvents = Setting<Set<NotifiedEvent>>(
        name: "notify-events",
        allowed: "some of \(eventWords), separated by commas",
        about: SettingText(
            "What is told: some of \(eventWords).", valueName: "words",
            standard: NotifiedEvent.allCases.map(\.rawValue).joined(separator: ","),
            example: "conflict,refused"),
        reload: .replaced
    ) { text in
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        let events = words.compactMap {
            NotifiedEvent(rawValue: String($0.trimming { $0 == " " }))
        }
        return events.count == words.count ? Set(events) : nil
    }

    static let notifyValues = yesOrNo(
        "notify-values",
        about: SettingText(
            "Whether messages have the titles of items and the reasons of the backend, which may hold "
                + "values of rows.", standard: "no", example: "no"), reload: .replaced)

    private static let eventWords = NotifiedEvent.allCases.map(\.rawValue).joined(separator: ", ")
}

extension ServeConfiguration {
    /// Reads who is told what.
    /// - Throws: ``StartProblem`` where both a webhook and a command are said, or the command cannot be trusted.
    static func notifications(_ sources: Sources) throws -> NotificationPlan {
        var plan = NotificationPlan()
        plan.events = try sources.valueOrDefault(Settings.notifyEvents)
        plan.hasValues = try sources.valueOrDefault(Settings.notifyValues)
        switch (try sources.value(Settings.notify), try sources.value(Settings.notifyCommand)) {
        case (nil, nil): break
        case (let webhook?, nil): plan.target = .webhook(webhook)
        case (nil, let command?):
            try checkCommand(command)
            plan.target = .command(command)
        case (_?, _?):
            throw StartProblem(
                "notify and notify-command are both said. Say one: a command can post to a webhook too.",
                .usage)
        }
        return plan
    }

    private static func checkCommand(_ path: String) throws(StartProblem) {
        guard let status = Files.status(path), Files.isExecutable(path) else {
            throw StartProblem(
                "--notify-command names \(path), which is no program that can be run. Make it one with: "
                    + "chmod u+x '\(path)'")
        }
        if let fault = status.changeFault(
            "The command \(path)", path: path, naming: "with --notify-command",
            user: ThisProcess.user)
        {
            throw StartProblem(fault)
        }
    }
}
