import Program

await Understudy.runAsProcess(refusing: SiteWords.refusal)
