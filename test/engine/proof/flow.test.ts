import { expect } from 'chai'
import { findings, registryOf, stub, stubs } from '../pipeline/stubs.ts'

const served = (stages: string, more = '') => `name: p\nsummary: s.\nroutes: [POST /p]\n${more}stages:\n${stages}`

describe('pipeline flow', () => {
  it('reports everything that is wrong, where it is', () => {
    const bad = [
      'name: bad',
      'routes: [POST /bad]',
      'stages:',
      '  - resolve',
      '  - switch:',
      '      - when: { target.name: fast }',
      '        do:',
      '          - alow:',
      '      - when: { rout.tier: SIMPLE }',
      '        do: [ auth, parse: { timeout: soon } ]',
      '  - attempt:',
      '      over: request',
      '      do: [call: { timeot: 1s }]',
      'summary: Wrong in many ways.',
      'public: true',
    ].join('\n')
    const route = `${'\n'.repeat(13)}${[
      'name: route',
      'summary: Misses an arm.',
      'inputs: [request]',
      'stages:',
      '  - resolve',
      '  - switch:',
      '      - when: { target.name: fast }',
      '        do:',
      '          - select',
      '  # nothing otherwise',
      '  - allow',
    ].join('\n')}`
    expect(findings({ 'pipelines/bad.yaml': bad, 'broken/route.yaml': route })).to.deep.equal([
      'broken/route.yaml:24:5: "allow" needs "candidates", which only some paths provide [missing-slot]',
      'pipelines/bad.yaml:2:1: not every path through this pipeline ends with a reply [no-reply]',
      'pipelines/bad.yaml:4:5: "resolve" needs "request", which no earlier stage provides; given by "parse" [missing-slot]',
      'pipelines/bad.yaml:8:13: no stage named "alow"; did you mean "allow"? [unknown-stage]',
      'pipelines/bad.yaml:9:17: condition reads "rout", which nothing earlier provides [missing-slot]',
      'pipelines/bad.yaml:10:39: must be a number and its unit (ms, s, m, h or d), such as 60s [pattern]',
      'pipelines/bad.yaml:12:13: "request" is not a list of candidates; an attempt needs one [no-list]',
      'pipelines/bad.yaml:13:20: unknown field "timeot"; did you mean "timeout"? [additionalProperties]',
    ])
  })

  it('lets a right pipeline pass', () => {
    const main = served('  - auth\n  - parse\n  - use: ask\n', 'protocol: plain\n')
    const ask = `name: ask
summary: s.
inputs: [request]
stages:
  - resolve
  - select
  - attempt: { do: [call] }
  - answer
`
    expect(findings({ 'main.yaml': `${main}finally: [log]\n`, 'ask.yaml': ask })).to.deep.equal([])
  })

  it('takes a slot as there in the arm that asked for it, and nowhere else', () => {
    const stages = `  - auth
  - parse
  - switch:
      - when: { request.stream: true }
        do: [resolve]
  - switch:
      - when: { target: true }
        do: [select]
      - do: [allow]
  - select
  - reply
`
    expect(findings({ 'p.yaml': served(stages) })).to.deep.equal([
      'p.yaml:13:14: "allow" needs "candidates", which no earlier stage provides; given by "select" [missing-slot]',
      'p.yaml:14:5: "select" needs "target", which only some paths provide [missing-slot]',
    ])
  })

  it('takes a slot that a stage gives sometimes as there only where a condition proved it', () => {
    const cache = { ...stub('cache', ['principal'], []), gives: ['reply'] as const }
    const found = (stages: string) => findings({ 'p.yaml': served(stages) }, registryOf([...stubs, cache]))
    const unproven = ['p.yaml:3:1: not every path through this pipeline ends with a reply [no-reply]']
    const when = (condition: string, then: string, otherwise: string) =>
      found(`  - auth\n  - cache\n  - switch: [{ when: { ${condition} }, do: [${then}] }${otherwise}]\n`)
    expect(found('  - auth\n  - cache\n')).to.deep.equal(unproven)
    expect(when('reply: true', '', ', { do: [reply] }')).to.deep.equal([])
    expect(when('reply.status: 200', '', ', { do: [reply] }')).to.deep.equal([])
    expect(when('reply: true', '', '')).to.deep.equal(unproven)
    // What an arm fails at is known after it, and in the arms that follow.
    expect(when('reply: false', 'reply', '')).to.deep.equal([])
    expect(when('reply: false', 'reply', ', { do: [] }')).to.deep.equal([])
    expect(when('reply.status: { not: 200 }', 'reply', '')).to.deep.equal([])
    expect(when('reply: false', '', '')).to.deep.equal(unproven)
    expect(when('reply: false, principal.name: me', 'reply', '')).to.deep.equal(unproven)
    expect(found('  - auth\n  - reply\n  - cache\n')).to.deep.equal([])
    expect(found('  - auth\n  - switch: [{ when: { reply: false }, do: [reply] }]\n')).to.deep.equal([
      'p.yaml:6:24: condition reads "reply", which nothing earlier provides; given by "answer", "reply" and "cache" [missing-slot]',
    ])
  })

  it('intersects the arms when one of them always runs', () => {
    const stages = `  - auth
  - switch:
      - when: { ingress.method: [GET, HEAD] }
        do: [reply]
      - do: [parse, reply]
`
    expect(findings({ 'p.yaml': served(stages) })).to.deep.equal([])
  })

  it('takes after an attempt with an otherwise only what both give', () => {
    const stages = (after: string) => `  - auth
  - parse
  - resolve
  - select
  - attempt:
      do: [call, answer]
      otherwise: [reply]
${after}`
    expect(findings({ 'p.yaml': served(stages('')) })).to.deep.equal([])
    expect(findings({ 'p.yaml': served(stages('  - call\n  - answer\n')) })).to.deep.equal([
      'p.yaml:12:5: "call" needs "model", which only some paths provide [missing-slot]',
    ])
    const blind = '  - auth\n  - parse\n  - resolve\n  - select\n  - attempt: { do: [call], otherwise: [answer] }\n'
    expect(findings({ 'p.yaml': served(blind) })).to.deep.equal([
      'p.yaml:3:1: not every path through this pipeline ends with a reply [no-reply]',
      'p.yaml:9:40: "answer" needs "answer", which no earlier stage provides; given by "call" [missing-slot]',
    ])
    const wrong = '  - auth\n  - parse\n  - resolve\n  - select\n  - attempt: { do: [reply], otherwise: [] }\n'
    expect(findings({ 'p.yaml': served(wrong) })).to.deep.equal([
      'p.yaml:3:1: not every path through this pipeline ends with a reply [no-reply]',
      'p.yaml:9:40: must not be empty [minItems]',
    ])
  })

  it('checks inputs at the include and refuses circles, unknown pipelines and an include with a finally', () => {
    const ring = (name: string, other: string) => `name: ${name}\nsummary: s.\nstages: [reply, use: ${other}]\n`
    const files = {
      'a.yaml': ring('ring-a', 'ring-b'),
      'b.yaml': ring('ring-b', 'ring-a'),
      'i.yaml': 'name: inner\nsummary: s.\ninputs: [request]\nstages: [resolve]\nfinally: [log]\n',
      'p.yaml': served('  - auth\n  - use: inner\n  - use: iner\n  - judge: { pipeline: ring }\n  - reply\n'),
    }
    expect(findings(files)).to.deep.equal([
      'b.yaml:3:22: pipelines include each other: ring-a -> ring-b -> ring-a [include-cycle]',
      'p.yaml:6:10: "inner" has a "finally", which an include would leave out [use-finally]',
      'p.yaml:6:10: "inner" needs "request", which no earlier stage provides; given by "parse" [missing-slot]',
      'p.yaml:7:10: no pipeline named "iner"; did you mean "inner"? [unknown-pipeline]',
      'p.yaml:8:24: no pipeline named "ring"; did you mean "ring-a"? [unknown-pipeline]',
    ])
  })

  it('proves that a pipeline which a stage runs gets what it begins with and gives what is expected', () => {
    const asked = (inputs: string, stages: string) => ({
      'p.yaml': served('  - auth\n  - judge: { pipeline: jury }\n  - reply\n'),
      'jury.yaml': `name: jury\nsummary: s.\ninputs: [${inputs}]\nstages:\n${stages}`,
    })
    expect(findings(asked('ingress, principal', '  - reply\n'))).to.deep.equal([])
    expect(findings(asked('', '  - reply\n'))).to.deep.equal([])
    expect(findings(asked('request, principal', '  - reply\n'))).to.deep.equal([
      'p.yaml:6:24: "jury" begins with "request", which "judge" does not hand over [not-handed-over]',
    ])
    expect(findings(asked('ingress', '  - auth\n'))).to.deep.equal([
      'p.yaml:6:24: "judge" expects "reply" of "jury", which none of its stages provides [not-given]',
    ])
    const sometimes = '  - switch:\n      - when: { ingress.method: GET }\n        do: [reply]\n'
    expect(findings(asked('ingress', sometimes))).to.deep.equal([
      'p.yaml:6:24: "judge" expects "reply" of "jury", which only some of its paths provide [not-given]',
    ])
  })

  it('takes a pipeline with routes for one that begins with a request', () => {
    const asks = stub('ask', [], [], undefined, {
      type: 'object',
      additionalProperties: false,
      properties: { pipeline: { type: 'string', 'x-names': 'pipeline', 'x-inputs': [], description: 'Whom to ask.' } },
    })
    const files = {
      'p.yaml': served('  - auth\n  - ask: { pipeline: door }\n  - reply\n'),
      'door.yaml': 'name: door\nsummary: s.\nroutes: [GET /door]\nstages: [auth, reply]\n',
    }
    expect(findings(files, registryOf([...stubs, asks]))).to.deep.equal([
      'p.yaml:6:22: "door" begins with "ingress", which "ask" does not hand over [not-handed-over]',
    ])
  })

  it('refuses pipelines that run each other, in their stages or in their finally', () => {
    const jury = (stages: string, end = '') =>
      `name: jury\nsummary: s.\ninputs: [ingress, principal]\nstages:\n${stages}${end}`
    const asking = served('  - auth\n  - judge: { pipeline: jury }\n  - reply\n')
    expect(
      findings({ 'p.yaml': asking, 'jury.yaml': jury('  - judge: { pipeline: jury }\n  - reply\n') }),
    ).to.deep.equal(['jury.yaml:5:24: pipelines run each other: jury -> jury [dispatch-cycle]'])
    expect(
      findings({ 'p.yaml': asking, 'jury.yaml': jury('  - reply\n', 'finally:\n  - judge: { pipeline: p }\n') }),
    ).to.deep.equal(['jury.yaml:7:24: pipelines run each other: p -> jury -> p [dispatch-cycle]'])
    const inner = 'name: inner\nsummary: s.\ninputs: [ingress, principal]\nstages:\n  - judge: { pipeline: jury }\n'
    expect(
      findings({ 'p.yaml': asking, 'jury.yaml': jury('  - use: inner\n  - reply\n'), 'inner.yaml': inner }),
    ).to.deep.equal(['inner.yaml:5:24: pipelines run each other: jury -> inner -> jury [dispatch-cycle]'])
  })

  it('demands that a served pipeline first asks who is there, unless it is public', () => {
    const late = '  - reply\n  - auth\n'
    const half = '  - switch:\n      - when: { ingress.method: GET }\n        do: [auth]\n  - reply\n'
    const message =
      'p.yaml:3:1: the first stage must authenticate the client (provide "principal"), or the pipeline must say "public: true" [no-access]'
    expect(findings({ 'p.yaml': served(late) })).to.deep.equal([message])
    expect(findings({ 'p.yaml': served(half) })).to.deep.equal([message])
    expect(findings({ 'p.yaml': served(late, 'public: true\n') })).to.deep.equal([])
    const through = 'name: door\nsummary: s.\ninputs: [ingress]\nstages: [auth]\n'
    expect(findings({ 'p.yaml': served('  - use: door\n  - reply\n'), 'door.yaml': through })).to.deep.equal([])
  })

  it('knows in finally only what came in and how it ended', () => {
    const text = `${served('  - auth\n  - parse\n  - reply\n')}finally:
  - log
  - allow
  - resolve
  - switch: [{ when: { request: true }, do: [resolve] }]
`
    expect(findings({ 'p.yaml': text })).to.deep.equal([
      'p.yaml:10:5: "allow" needs "candidates", which no earlier stage provides; given by "select" [missing-slot]',
      'p.yaml:11:5: "resolve" needs "request", which only some paths provide [missing-slot]',
    ])
  })

  it('refuses a route or a name twice, whatever its parameters are called', () => {
    const one = 'name: one\nsummary: s.\npublic: true\nroutes: [GET /v1/things/:id]\nstages: [reply]\n'
    const two = one.replace(':id', ':thing_id')
    expect(findings({ 'a.yaml': one, 'b.yaml': two })).to.deep.equal([
      'b.yaml:1:7: the pipeline "one" is already there: a.yaml:1:7 [duplicate]',
      'b.yaml:4:10: the route "GET /v1/things/:thing_id" is already there: a.yaml:4:10 [duplicate]',
    ])
  })

  it('refuses a route that is no WebSocket where sockets are one exchange each', () => {
    const text =
      'name: one\nsummary: s.\npublic: true\nsocket: relay\nroutes: [WS /live, POST /live]\nstages: [reply]\n'
    expect(findings({ 'a.yaml': text })).to.deep.equal([
      'a.yaml:5:20: a pipeline with "socket: relay" serves only WebSockets, and this route is POST [no-socket]',
    ])
    expect(findings({ 'a.yaml': text.replace('socket: relay', 'socket: messages') })).to.deep.equal([])
    expect(findings({ 'a.yaml': text.replace(', POST /live', '') })).to.deep.equal([])
  })

  it('does not report what only follows from a step that was not understood', () => {
    expect(findings({ 'p.yaml': served('  - logn\n  - allow\n  - 5\n') })).to.deep.equal([
      'p.yaml:5:5: no stage named "logn"; did you mean "log"? [unknown-stage]',
      'p.yaml:7:5: a step is a name, or a name with its fields [step]',
    ])
  })

  it('suggests the slot that was meant, in inputs and where a step needs one', () => {
    const part = 'name: part\nsummary: s.\ninputs: [requst]\nstages: [reply]\n'
    expect(findings({ 'part.yaml': part })).to.deep.equal([
      'part.yaml:3:10: no slot named "requst"; did you mean "request"? [unknown-slot]',
    ])
    const over =
      '  - auth\n  - parse\n  - resolve\n  - select\n  - attempt: { over: candidate, do: [call] }\n  - answer\n'
    expect(findings({ 'p.yaml': served(over, 'protocol: plain\n') })).to.deep.equal([
      'p.yaml:10:5: "attempt" needs "candidate", which no earlier stage provides; did you mean "candidates"? [missing-slot]',
    ])
  })

  it('knows what conditions can read of a slot', () => {
    const when = (condition: string) =>
      findings({
        'p.yaml': served(
          `  - auth\n  - parse\n  - resolve\n  - select\n  - switch: [{ when: { ${condition} }, do: [] }]\n  - reply\n`,
          'protocol: plain\n',
        ),
      }).map((line) => line.replace(/^p\.yaml:\d+:\d+: /, ''))
    expect(when('principal.nmae: x')).to.deep.equal([
      '"principal" has no field "nmae"; did you mean "name"? [unknown-field]',
    ])
    expect(when('request.stream: "yes"')).to.deep.equal([
      '"request.stream" is true or false and never equals "yes" [unknown-field]',
    ])
    expect(when('request.headers.X-Team: web')).to.deep.equal([
      'names of headers are in lower case here; did you mean "request.headers.x-team"? [unknown-field]',
    ])
    expect(when('target.model.context_length: { prefix: "4" }')).to.deep.equal([
      '"target.model.context_length" is a number and never equals "4" [unknown-field]',
    ])
    expect(when('principal.name: [alice, null]')).to.deep.equal([
      '"principal.name" is a text and never equals null [unknown-field]',
    ])
    expect(when('target.model: x')).to.deep.equal([
      '"target.model" is not a single value; ask for one of its fields [unknown-field]',
    ])
    expect(when('principal.name.first: x')).to.deep.equal([
      '"principal.name" is a text and has no fields [unknown-field]',
    ])
    for (const right of [
      'request.body.tools.type: web_search',
      'request.headers.x-team: [web, app]',
      'principal.models: { not: small }',
      'candidates.0.model.quality_tier: premium',
      'target.model.pricing.input: 0',
      'request.body.user: null',
    ])
      expect(when(right), right).to.deep.equal([])
  })

  it('refuses a stage that reads the body on a route that has none, in an include too', () => {
    const main =
      'name: p\nsummary: s.\nroutes: [POST /p, GET /p]\nprotocol: plain\nstages: [auth, { use: read }, reply]\n'
    const read = 'name: read\nsummary: s.\ninputs: [principal, ingress]\nstages: [parse]\n'
    expect(findings({ 'p.yaml': main, 'read.yaml': read })).to.deep.equal([
      'p.yaml:3:19: "parse" reads the body of the request, and a GET request has none [no-body]',
    ])
  })
})
