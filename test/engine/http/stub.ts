import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { definePlugin, defineStage, noConfig } from '../../../engine/index.ts'
import { encodeFrame, pull } from '../../../engine/kit.ts'
import type { Ingress, Json, Outcome, Principal, Reply, Scope } from '../../../engine/index.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway, GatewaySettings } from '../../support/gateway.ts'

/** A request as the stub's stage sees it. */
export interface Asked {
  readonly ingress: Ingress
  readonly principal?: Principal
  readonly scope: Scope
}

type Answering = (asked: Asked) => Reply | Promise<Reply>

let answering: Answering = () => json({ told: 'nothing' })
let ending: () => Promise<void> = () => Promise.resolve()
let outcomes: Outcome[] = []
const watchers = new Set<() => void>()

/** A gateway whose pipelines are those given, and whose stage `stub` answers what it is told to. */
export interface StubGateway extends RunningGateway {
  /** Sets what `stub` answers from now on. */
  answer(next: Answering): void
  /** Sets what `stub-outcome` does before it shows how an exchange ended. */
  atEnd(next: () => Promise<void>): void
  /** How the exchanges of pipelines with `finally: [stub-outcome]` ended, once there are `count` of them. */
  ended(count: number): Promise<readonly Outcome[]>
  /** Where its pipelines are written. */
  readonly pipelineFile: string
  /** What is left to do when the engine was closed by the test. */
  remove(): Promise<void>
}

export async function startStub(pipelines: string, settings: GatewaySettings = {}): Promise<StubGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-stub-'))
  const pipelineFile = join(folder, 'stub.yaml')
  await writeFile(pipelineFile, pipelines)
  const plugins = [fileURLToPath(import.meta.url), ...(settings.plugins ?? [])]
  const gateway = await startGateway({ ...settings, plugins, pipelines: folder })
  outcomes = []
  ending = () => Promise.resolve()
  return {
    ...gateway,
    pipelineFile,
    remove: () => rm(folder, { recursive: true }),
    answer: (next) => (answering = next),
    atEnd: (next) => (ending = next),
    ended: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (outcomes.length < count) return
          watchers.delete(look)
          resolve(outcomes)
        }
        watchers.add(look)
        look()
      }),
    async close() {
      await gateway.close()
      await rm(folder, { recursive: true })
    },
  }
}

export function json(value: Json, status = 200): Reply {
  return { status, headers: {}, body: { kind: 'json', value } }
}

/** A reply that streams events; each one's data is what `events` gives. */
export function events(data: AsyncIterable<string> | Iterable<string>): Reply {
  async function* chunks() {
    for await (const one of data) yield Buffer.from(encodeFrame({ data: one }))
  }
  return { status: 200, headers: {}, body: { kind: 'stream', source: pull(chunks()), type: 'text/event-stream' } }
}

/** Resolves when the exchange is aborted, with the reason. */
export function aborted(scope: Scope): Promise<Error> {
  return new Promise((resolve) => scope.onAbort(resolve))
}

export default definePlugin({
  name: 'stub',
  summary: 'For tests.',
  stages: [
    defineStage({
      name: 'stub',
      summary: 'Answers as the test says.',
      config: noConfig,
      needs: ['ingress'],
      reads: ['principal'],
      provides: ['reply'],
      build:
        () =>
        async ({ ingress, principal }, scope) => ({
          reply: await answering({ ingress, scope, ...(principal ? { principal } : {}) }),
        }),
    }),
    defineStage({
      name: 'stub-outcome',
      summary: 'Shows the test how it ended.',
      config: noConfig,
      needs: ['outcome'],
      provides: [],
      build:
        () =>
        async ({ outcome }) => {
          await ending()
          outcomes.push(outcome)
          watchers.forEach((look) => look())
          return {}
        },
    }),
  ],
})
