import { emptyGateway } from '../../../engine/live/gateway-host.ts'
import { defineCodec, defineStage, noConfig } from '../../../engine/index.ts'
import { durationSchema } from '../../../engine/kit.ts'
import type { AnyStage, Host, SlotName, StagePlace } from '../../../engine/index.ts'
import { assemble } from '../../../engine/components/assemble.ts'
import type { Registry } from '../../../engine/config/registry.ts'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { sortDiagnostics } from '../../../engine/config/diagnostics.ts'
import { compilePipelines } from '../../../engine/pipeline/compile.ts'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import catalog from '../../support/catalog-records.ts'
import { checkPipelines } from '../../../engine/proof/load.ts'
import type { CompiledPipeline } from '../../../engine/pipeline/run.ts'

/** A stage that gives a text for each slot it provides. */
export function stub(
  name: string,
  needs: SlotName[],
  provides: SlotName[],
  build?: AnyStage['build'],
  config: object = noConfig,
): AnyStage {
  const run = () => Object.fromEntries(provides.map((slot) => [slot, `${name}'s ${slot}`]))
  return {
    kind: 'stage',
    name,
    summary: `Stub of ${name}.`,
    config,
    needs,
    provides,
    build: build ?? (() => run),
  }
}

export const codec = defineCodec({
  protocol: 'plain',
  operation: 'embed',
  summary: 'A codec for tests.',
  schema: {},
  traits: {
    loud: { type: 'boolean', default: false, description: 'Shouts.' },
    level: { type: 'string', description: 'How loud.' },
  },
  head: () => ({ model: 'm', stream: false, background: false }),
  error: { parse: (status) => ({ status, code: null, type: 't', message: 'm', param: null }), print: () => ({}) },
  meter: { reply: () => ({}), stream: () => ({ complete: true }) },
})

export const parse = defineStage({
  name: 'parse',
  summary: 'Reads the body.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      protocol: { type: 'string', default: 'plain', description: 'What the client speaks.' },
      timeout: { ...durationSchema, default: '60s', description: 'How long to wait.' },
    },
  },
  needs: ['principal', 'ingress'],
  provides: ['request'],
  readsBody: true,
  build: ({ protocol }, host) => {
    host.codec(protocol)
    return () => ({ request: { protocol } as never })
  },
})

export const stubs: AnyStage[] = [
  stub('auth', ['ingress'], ['principal']),
  parse,
  stub('resolve', ['request'], ['target']),
  stub('select', ['target'], ['candidates']),
  stub('allow', ['candidates'], []),
  stub('call', ['model', 'request'], ['answer'], undefined, {
    type: 'object',
    additionalProperties: false,
    properties: { timeout: { type: 'string', pattern: '^\\d+(ms|s|m)$', default: '5s', description: 'How long.' } },
  }),
  stub('answer', ['answer'], ['reply']),
  stub('reply', [], ['reply']),
  stub('log', ['outcome'], []),
  stub('judge', [], [], undefined, {
    type: 'object',
    additionalProperties: false,
    required: ['pipeline'],
    properties: {
      pipeline: {
        type: 'string',
        'x-names': 'pipeline',
        'x-inputs': ['ingress', 'principal'],
        'x-gives': ['reply'],
        description: 'Whom to ask.',
      },
    },
  }),
]

export function registryOf(stages: readonly AnyStage[] = stubs): Registry {
  // Stages of the catalog use services that are not here.
  const parts = [...stages, codec, ...(catalog.records ?? [])]
  const { registry, diagnostics } = assemble(parts.map((value) => ({ value, from: 'stubs.ts' })))
  if (diagnostics.length > 0) throw new Error(diagnostics.map(printDiagnostic).join('\n'))
  return registry
}

/** Printed findings of pipeline texts by file name. */
export function findings(files: Record<string, string>, registry = registryOf()): string[] {
  const texts = Object.entries(files).map(([file, text]) => ({ file, text }))
  return sortDiagnostics(checkPipelines(texts, registry, {}).diagnostics).map(printDiagnostic)
}

/** Compiles pipeline texts that must be right. */
export function compiled(
  files: Record<string, string>,
  stages: readonly AnyStage[],
  strict = true,
  log?: Host['log'],
): Map<string, CompiledPipeline> {
  const registry = registryOf(stages)
  const texts = Object.entries(files).map(([file, text]) => ({ file, text }))
  const { pipelines, diagnostics } = checkPipelines(texts, registry, {})
  const built = compilePipelines(pipelines, {
    hostFor: hostOf(registry, log),
    viewsOf: () => ({}),
    settings: {},
    strict,
  })
  const all = [...diagnostics, ...built.diagnostics]
  if (all.length > 0) throw new Error(all.map(printDiagnostic).join('\n'))
  return built.compiled
}

export function hostOf(registry: Registry, log = emptyGateway('test').log): (pipeline: Host['pipeline']) => Host {
  const scrub = (text: string) => text.replaceAll('sk-1', '•••')
  const codecOf = (protocol: string) => {
    const found = registry.codecs.get(protocol)
    if (!found) throw new Error(`no codec speaks "${protocol}"`)
    return found
  }
  return (pipeline) =>
    ({ pipeline, log, scrub, codec: codecOf, keep: (_: string, make: () => unknown) => make() }) as unknown as Host
}

export class TestScope extends ExchangeScope {
  constructor() {
    super('exchange')
  }

  override abort(reason = new Error('left')): void {
    super.abort(reason)
  }

  override elapsed(): number {
    return 0
  }
}

/** Remembers what time was counted for, instead of the time. */
export class LapScope extends TestScope {
  readonly timed: string[] = []

  override lap({ name }: StagePlace): void {
    this.timed.push(name)
  }

  override begin(): void {
    this.timed.push('begin')
  }
}
