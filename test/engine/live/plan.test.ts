import { expect } from 'chai'
import { checkPipelines } from '../../../engine/proof/load.ts'
import { GatewayError } from '../../../engine/index.ts'
import type { Outcome } from '../../../engine/index.ts'
import type { Bag } from '../../../engine/pipeline/bag.ts'
import { finish } from '../../../engine/pipeline/finish.ts'
import { planSteps, printPlan } from '../../../engine/live/plan.ts'
import type { PlannedStep } from '../../../engine/spec/running.ts'
import { execute } from '../../../engine/pipeline/run.ts'
import { TestScope, compiled, registryOf, stub, stubs } from '../pipeline/stubs.ts'

describe('plan', () => {
  it('tells what a stage gives only sometimes', () => {
    const cache = { ...stub('cache', [], ['target']), gives: ['reply'] as const }
    const text = 'name: p\nsummary: s.\nroutes: [GET /p]\npublic: true\nstages: [cache, reply]\n'
    const { pipelines } = checkPipelines([{ file: 'p.yaml', text }], registryOf([...stubs, cache]), {})
    expect(printPlan(pipelines[0]!, { pipelines, sections: new Map() })).to.include(
      '\n    gives target\n    may give reply\n',
    )
  })

  it('shows a pipeline as it will run', () => {
    const text = `name: main
summary: Serves.
protocol: plain
routes: [POST /p, WS /p]
stages:
  - auth
  - parse: { timeout: "\${WAIT:-5s}" }
  - use: ask
    timeout: 2m
finally: [log]
`
    const ask = `name: ask
summary: Asks.
inputs: [request]
stages:
  - { resolve: null, timeout: 1500ms }
  - select
  - switch: [{ when: { request.model: [a, b], request.body.user: { not: { prefix: x } }, target: true }, do: [allow] }, { do: [] }]
  - attempt: { tries: 2, wait: 1s, do: [call, answer], otherwise: [reply] }
`
    const texts = [
      { file: 'main.yaml', text },
      { file: 'ask.yaml', text: ask },
    ]
    const { pipelines, diagnostics } = checkPipelines(texts, registryOf(), {})
    expect(diagnostics).to.deep.equal([])
    expect(printPlan(pipelines[0]!, { pipelines, sections: new Map() }).split('\n')).to.deep.equal([
      'main                             main.yaml:1:1',
      '  Serves.',
      '  POST /p',
      '  WS /p',
      '  clients speak plain',
      'stages',
      '  auth                           main.yaml:6:5  within 1m',
      '    needs ingress',
      '    gives principal',
      '  parse                          main.yaml:7:5  within 1m',
      '    needs principal, ingress',
      '    gives request',
      '    timeout: (from the environment)',
      '    protocol: plain  (default)',
      '  use ask                        main.yaml:8:10  within 2m',
      '    resolve                      ask.yaml:5:5  within 1500ms',
      '      needs request',
      '      gives target',
      '    select                       ask.yaml:6:5  within 1m',
      '      needs target',
      '      gives candidates',
      '    switch                       ask.yaml:7:5',
      '      when request.model is "a" or "b" and request.body.user does not begin with "x" and target',
      '        allow                    ask.yaml:7:111  within 1m',
      '          needs candidates',
      '      otherwise',
      '    attempt                      ask.yaml:8:5',
      '      over: candidates  (default)',
      '      tries: 2',
      '      on: ["connect","timeout","invalid","guard","429","5xx"]  (default)',
      '      wait: 1s',
      '      wait_max: 5s  (default)',
      '      budget: 0.2  (default)',
      '      budget_floor: 3  (default)',
      '      call                       ask.yaml:8:41  within 1m',
      '        needs model, request',
      '        gives answer',
      '        timeout: 5s  (default)',
      '      answer                     ask.yaml:8:47  within 1m',
      '        needs answer',
      '        gives reply',
      '      otherwise',
      '        reply                    ask.yaml:8:68  within 1m',
      '          gives reply',
      'finally',
      '  log                            main.yaml:10:11  within 1m',
      '    needs outcome',
    ])
  })

  it('names each stage by the path that its runs have', async () => {
    const given = { model: { name: 'm' }, provider: { name: 'p' } }
    const stages = [
      stub('mark', [], [], () => () => ({})),
      stub('find', [], ['candidates'], () => () => ({ candidates: [given, given] })),
      stub('fails', [], [], () => () => {
        throw new GatewayError('upstream_error', {}, { tags: ['502'] })
      }),
      stub('reply', [], ['reply']),
      stub('price', ['outcome'], ['bill'], () => () => {
        throw new Error('no price')
      }),
      stub('tell', ['bill'], [], () => () => ({})),
    ]
    const files = {
      'p.yaml': `name: p
summary: Serves.
routes: [GET /p]
public: true
stages:
  - mark
  - mark
  - find
  - use: inner
  - use: late
    timeout: 1m
  - switch: [{ when: { ingress.method: POST }, do: [fails, reply] }, { do: [mark, reply] }]
finally: [mark, { use: after }, tell]
`,
      'inner.yaml': `name: inner
summary: Tries.
inputs: [candidates]
stages:
  - mark
  - attempt: { over: candidates, tries: 2, on: [5xx], wait: 0s, do: [mark, fails], otherwise: [{ use: late }] }
`,
      'late.yaml': 'name: late\nsummary: Late.\nstages: [mark]\n',
      'after.yaml': 'name: after\nsummary: After.\ninputs: [outcome]\nstages: [price]\n',
    }
    const texts = Object.entries(files).map(([file, text]) => ({ file, text }))
    const { pipelines } = checkPipelines(texts, registryOf(stages), {})
    const made = compiled(files, stages).get('p')!
    const scope = new TestScope()
    const slots = {} as Bag
    await execute(made, slots, scope)
    await finish(made, Object.assign(slots, { outcome: {} as Outcome }), scope)
    const ran = scope.laps.map(({ stage, attempt, outcome }) => [stage.path, attempt ?? 0, outcome])
    expect(ran).to.deep.equal([
      ['mark', 0, 'ok'],
      ['mark:2', 0, 'ok'],
      ['find', 0, 'ok'],
      ['inner/mark', 0, 'ok'],
      ['inner/attempt/mark', 1, 'ok'],
      ['inner/attempt/fails', 1, 'failed'],
      ['inner/attempt/mark', 2, 'ok'],
      ['inner/attempt/fails', 2, 'failed'],
      ['inner/attempt/otherwise/late/mark', 0, 'ok'],
      ['late/mark', 0, 'ok'],
      ['switch/2/mark', 0, 'ok'],
      ['switch/2/reply', 0, 'ok'],
      ['finally/mark', 0, 'ok'],
      ['finally/after/price', 0, 'failed'],
      ['finally/tell', 0, 'skipped'],
    ])
    const [first] = pipelines
    const planned = [
      ...planSteps(first!.stages, { pipelines, sections: new Map() }),
      ...planSteps(first!.finally, { pipelines, sections: new Map() }, 'finally'),
    ].flatMap(stagePaths)
    expect(planned).to.include.members(ran.map(([path]) => path))
    expect(new Set(planned)).to.have.property('size', planned.length)
    expect(planned.filter((path) => !ran.some(([one]) => one === path))).to.deep.equal([
      'switch/1/fails',
      'switch/1/reply',
    ])
  })
})

function stagePaths({ kind, path, arms = [], do: inner = [], otherwise = [] }: PlannedStep): string[] {
  const nested = [...arms.flatMap((arm) => arm.do), ...inner, ...otherwise]
  return [...(kind === 'stage' ? [path] : []), ...nested.flatMap(stagePaths)]
}
