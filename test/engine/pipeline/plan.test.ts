import { expect } from 'chai'
import { checkPipelines } from '../../../engine/pipeline/load.ts'
import { printPlan } from '../../../engine/pipeline/plan.ts'
import { registryOf, stub, stubs } from './stubs.ts'

describe('plan', () => {
  it('tells what a stage gives only sometimes', () => {
    const cache = { ...stub('cache', [], ['target']), gives: ['reply'] as const }
    const text = 'name: p\nsummary: s.\nroutes: [GET /p]\npublic: true\nstages: [cache, reply]\n'
    const { pipelines } = checkPipelines([{ file: 'p.yaml', text }], registryOf([...stubs, cache]), {})
    expect(printPlan(pipelines[0]!, pipelines)).to.include('\n    gives target\n    may give reply\n')
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
    expect(printPlan(pipelines[0]!, pipelines).split('\n')).to.deep.equal([
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
      '    protocol: plain',
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
      '      over: candidates',
      '      tries: 2',
      '      on: ["connect","timeout","429","5xx"]',
      '      wait: 1s',
      '      call                       ask.yaml:8:41  within 1m',
      '        needs model, request',
      '        gives answer',
      '        timeout: 5s',
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
})
