import cluster from 'node:cluster'
import type { Worker } from 'node:cluster'
import type { Json } from '../spec/json.ts'
import type { FirstProcess } from '../spec/service-host.ts'

/** Milliseconds that a process waits for an answer of the first one, which only fails to answer when it ends. */
const PATIENCE = 10_000

/** Milliseconds between two reports, and until the last one must have arrived. */
const BEAT = 1_000

/** A question to a module in the first process, and its answer. */
interface Question {
  readonly sluice: 'question'
  readonly id: number
  readonly module: string
  readonly question: Json
}
interface Reply {
  readonly sluice: 'reply'
  readonly id: number
  readonly answer?: Json
  readonly problem?: string
}

/** What such a module exports. */
interface Answering {
  readonly default: (question: Json, from: number) => Json | undefined | Promise<Json | undefined>
  /** A process has ended; whether all do. */
  readonly left?: (from: number, isStopping: boolean) => void
}

/** The first process, for one of several serving processes; undefined in a process that serves alone. */
export function firstProcess(): FirstProcess | undefined {
  if (!cluster.isWorker) return undefined
  const waiting = new Map<number, PromiseWithResolvers<Json | undefined>>()
  let asked = 0
  process.on('message', (message: Partial<Reply> | null) => {
    if (message?.sluice !== 'reply' || message.id === undefined) return
    const { answer, problem } = message
    if (problem === undefined) waiting.get(message.id)?.resolve(answer)
    else waiting.get(message.id)?.reject(new Error(problem))
  })
  const first: FirstProcess = {
    async ask(module, question, limit = PATIENCE) {
      const id = ++asked
      const answer = Promise.withResolvers<Json | undefined>()
      waiting.set(id, answer)
      const late = setTimeout(() => answer.reject(new Error('the first process did not answer')), limit)
      try {
        const words: Question = { sluice: 'question', id, module: module.href, question }
        process.send?.(words, undefined, undefined, (error: Error | null) => error && answer.reject(error))
        return await answer.promise
      } finally {
        clearTimeout(late)
        waiting.delete(id)
      }
    },
    report(module, read) {
      // A report that did not arrive is in the next one. The first process only fails to take one when it ends.
      const ask = async () => first.ask(module, read(), BEAT)
      const send = () => ask().then(ignore, ignore)
      const beat = setInterval(() => void send(), BEAT).unref()
      void send()
      return () => {
        clearInterval(beat)
        return send()
      }
    },
  }
  return first
}

function ignore(): void {}

/** Says that every process of the start serves, or has failed to. */
const complete = { sluice: 'complete' } as const

/** A process that takes the place of another one is started with this variable. */
export const replacing = { SLUICE_REPLACES: 'yes' } as const

let isComplete = !cluster.isWorker || process.env['SLUICE_REPLACES'] === replacing.SLUICE_REPLACES
if (cluster.isWorker)
  process.on('message', (message: Partial<typeof complete> | null) => {
    if (message?.sluice === complete.sluice) isComplete = true
  })

/** Whether all processes of the gateway serve, or did at its start. */
export function allServe(): boolean {
  return isComplete
}

/** Tells a serving process that all serve; in the first one. */
export function tellAllServe(worker: Worker): void {
  if (worker.isConnected()) worker.send(complete)
}

/** Answers the questions of a serving process, in the first one. */
export function answerQuestions(worker: Worker, isStopping: () => boolean): void {
  const asked = new Map<string, Promise<Answering>>()
  worker.on('message', (message: Partial<Question> | null) => {
    if (message?.sluice !== 'question') return
    const { id, module, question } = message as Question
    const answering = asked.get(module) ?? (import(module) as Promise<Answering>)
    asked.set(module, answering)
    void answering
      .then(async (loaded) => loaded.default(question, worker.id))
      .then(
        (answer): Reply => ({ sluice: 'reply', id, ...(answer === undefined ? {} : { answer }) }),
        (error: unknown): Reply => ({ sluice: 'reply', id, problem: String(error) }),
      )
      .then((reply) => worker.isConnected() && worker.send(reply))
  })
  worker.once('exit', () => {
    // A module that cannot be loaded has told those who asked it.
    const all = isStopping()
    for (const answering of asked.values()) answering.then(({ left }) => left?.(worker.id, all)).catch(() => undefined)
  })
}
