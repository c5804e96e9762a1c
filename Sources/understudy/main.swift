import Proxy

ThisProcess.keepFilesPrivate()
ThisProcess.raiseFileLimit()
await Understudy.runAsProcess()
