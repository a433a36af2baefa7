import { endianness } from 'node:os'
import type { Logger } from 'pino'
import type { Environment } from '../config/interpolate.ts'

/** Tells systemd how the gateway is: sd_notify(3). Nothing throws, and nothing waits for systemd. */
export interface Systemd {
  /** The gateway serves. */
  ready(sentence: string): void
  /** Tells that the configuration is read again until `work` has ended; it gives the sentence to be told then. */
  reload(work: () => Promise<string>): Promise<void>
  /** Something has changed. */
  status(sentence: string): void
  /** The gateway ends once requests under way have finished. Nothing but that it lives is told afterwards. */
  stopping(): void
}

/** What is used of `node:ffi`, which has no types yet. */
interface ForeignFunctions {
  dlopen(
    library: null,
    signatures: Readonly<Record<string, { readonly arguments: readonly string[]; readonly return: string }>>,
  ): { readonly functions: SocketFunctions }
}

/** Functions of the C library: socket(2), sendto(2). */
interface SocketFunctions {
  readonly socket: (family: number, type: number, protocol: number) => number
  readonly sendto: (socket: number, text: Buffer, length: bigint, flags: number, to: Buffer, size: number) => bigint
}

// Linux, on every processor that Node runs on but MIPS and SPARC, for which nobody builds it any more.
const AF_UNIX = 1
const SOCK_DGRAM_CLOEXEC = 2 | 0o2000000
const MSG_DONTWAIT_NOSIGNAL = 0x40 | 0x4000

/** Bytes of a path in `sockaddr_un`, its end included. */
const longest = 108
/** Maximum characters of a sentence, which `systemctl status` shows in one line. */
const shown = 500
/** Milliseconds until systemd, which had no room for a message, is told again; how often; and messages that wait. */
const again = { after: 100, times: 100, most: 100 }

/** Variables that are systemd's word to this process alone. */
const variables = ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID'] as const

/**
 * Opens the way to systemd that `NOTIFY_SOCKET` names: a path, or with `@` an abstract name. From then on the process
 * also says that it lives, twice per `WATCHDOG_USEC`. Takes the variables from the process, so that no child has them.
 * Undefined where that is not possible, which is logged.
 */
export function openSystemd(environment: Environment, log: Logger): Systemd | undefined {
  const [name = '', watchdog, pid] = variables.map((variable) => environment[variable])
  for (const variable of variables) delete process.env[variable]
  let send: (text: string) => boolean
  try {
    send = senderTo(name)
  } catch (error) {
    log.warn({ err: error }, 'systemd cannot be told how the gateway is')
    return undefined
  }
  const tell = queued(send, log)
  const microseconds = pid === undefined || Number(pid) === process.pid ? Number(watchdog) : NaN
  // A message that finds no room is not kept: the next one says the same.
  if (microseconds > 0) setInterval(() => send('WATCHDOG=1'), microseconds / 2000).unref()

  let reloads = 0
  let isStopping = false
  return {
    ready: (sentence) => tell('READY=1', status(sentence)),
    status(sentence) {
      if (!isStopping) tell(status(sentence))
    },
    async reload(work) {
      reloads++
      if (!isStopping)
        tell(
          'RELOADING=1',
          `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`,
          status('Reads its configuration again'),
        )
      const sentence = await work()
      if (--reloads === 0 && !isStopping) tell('READY=1', status(sentence))
    },
    stopping() {
      isStopping = true
      tell('STOPPING=1', status('Stops: requests under way may finish'))
    },
  }
}

/** A sentence in one line: a line of its own would be another message. */
function status(sentence: string): string {
  return `STATUS=${sentence.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, shown)}`
}

/** Sends messages one after the other, and again those for which systemd has no room. */
function queued(send: (text: string) => boolean, log: Logger): (...lines: readonly string[]) => void {
  const waiting: string[] = []
  let tries = 0
  const flush = () => {
    while (waiting[0] !== undefined && send(waiting[0])) {
      waiting.shift()
      tries = 0
    }
    if (waiting.length === 0) return
    if (++tries <= again.times) setTimeout(flush, again.after).unref()
    else {
      log.warn(`systemd takes no message: ${waiting.length} of them are lost`)
      waiting.length = tries = 0
    }
  }
  return (...lines) => {
    waiting.push(lines.join('\n'))
    if (waiting.length > again.most) waiting.shift()
    if (tries === 0) flush()
  }
}

/** A function that sends one message, and returns whether it was taken. */
function senderTo(name: string): (text: string) => boolean {
  if (process.platform !== 'linux') throw new Error(`there is no systemd on ${process.platform}`)
  const address = addressOf(name)
  const { socket, sendto } = functions()
  const opened = socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0)
  if (opened < 0) throw new Error('the system gives no socket')
  return (text) => {
    const bytes = Buffer.from(text)
    const sent = sendto(opened, bytes, BigInt(bytes.length), MSG_DONTWAIT_NOSIGNAL, address, address.length)
    return sent === BigInt(bytes.length)
  }
}

/** A `sockaddr_un`: a path with its end, or an abstract name, whose length says where it ends. */
function addressOf(name: string): Buffer {
  const isAbstract = name.startsWith('@')
  if (!isAbstract && !name.startsWith('/')) throw new Error('NOTIFY_SOCKET must be a path or begin with @')
  const path = Buffer.from(isAbstract ? `\0${name.slice(1)}` : `${name}\0`)
  if (path.length > longest) throw new Error(`NOTIFY_SOCKET is longer than ${longest - 1} bytes`)
  const family = Buffer.alloc(2)
  if (endianness() === 'LE') family.writeUInt16LE(AF_UNIX)
  else family.writeUInt16BE(AF_UNIX)
  return Buffer.concat([family, path])
}

/** Node has no Unix datagrams. Its foreign functions need no flag, but warn that they may change. */
function functions(): SocketFunctions {
  const warn: unknown = Reflect.get(process, 'emitWarning')
  process.emitWarning = () => undefined
  try {
    const foreign = process.getBuiltinModule('node:ffi') as unknown as ForeignFunctions | undefined
    if (foreign === undefined) throw new Error(`Node ${process.version} has no node:ffi`)
    return foreign.dlopen(null, {
      socket: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
      sendto: { arguments: ['i32', 'buffer', 'u64', 'i32', 'buffer', 'u32'], return: 'i64' },
    }).functions
  } finally {
    Reflect.set(process, 'emitWarning', warn)
  }
}
