import { expect } from 'chai'
import { Refusal, defineStage } from '../../../engine/index.ts'
import { findings, registryOf, stubs } from './stubs.ts'

const plain = 'name: p\nsummary: s.\nstages:\n'

describe('pipeline files', () => {
  it('holds several endpoints', () => {
    const text = `endpoints:
  - { name: one, summary: s., public: true, routes: [GET /one], stages: [reply] }
  - { name: two, summary: s., public: true, routes: [GET two], stages: [allow], sumary: t }
name: three
`
    expect(findings({ 'e.yaml': text })).to.deep.equal([
      'e.yaml:3:45: not every path through this pipeline ends with a reply [no-reply]',
      'e.yaml:3:54: must be a method and a path, such as "POST /v1/things/:id" or "WS /v1/things" [pattern]',
      'e.yaml:3:73: "allow" needs "candidates", which no earlier stage provides; given by "select" [missing-slot]',
      'e.yaml:3:81: unknown field "sumary"; did you mean "summary"? [additionalProperties]',
      'e.yaml:4:1: unknown field "name" beside "endpoints" [additionalProperties]',
    ])
  })

  it('says what is wrong with structural words', () => {
    const stages = `  - use: { pipeline: x }
  - switch:
      - do: [reply]
      - when: { ingress: 3 }
        do: [reply]
      - wen: { ingress: true }
  - attempt: { on: [teapot], wait: long, tries: 0, do: [] }
  - reply: 1
    allow:
  - { timeout: 5s }
  - { timeout: soon, reply: null }
  - { reply: null, timeout: 5 }
  - reply: { timeout: 5s }
`
    expect(findings({ 'p.yaml': plain + stages })).to.deep.equal([
      'p.yaml:4:10: "use" takes the name of a pipeline [step]',
      'p.yaml:6:9: an arm without "when" matches everything; later arms are never reached [unreachable]',
      'p.yaml:7:26: a whole slot is matched by true (it is there) or false [condition]',
      'p.yaml:9:9: "do" is missing [required]',
      'p.yaml:9:9: unknown field "wen"; did you mean "when"? [additionalProperties]',
      'p.yaml:10:21: must be connect, timeout, invalid, guard, a status from 400 to 599, 4xx or 5xx [pattern]',
      'p.yaml:10:36: must be a number and its unit (ms, s, m, h or d), such as 60s [pattern]',
      'p.yaml:10:49: must be at least 1 [minimum]',
      'p.yaml:10:56: must not be empty [minItems]',
      'p.yaml:11:12: must be an object [type]',
      'p.yaml:12:5: a step has one name; indent "allow" to make it a field of "reply" [step]',
      'p.yaml:13:5: a step is a name, or a name with its fields [step]',
      'p.yaml:14:16: must be a number and its unit (ms, s, m, h or d), such as 60s [pattern]',
      'p.yaml:15:29: must be a string [type]',
      'p.yaml:16:14: "timeout" is not a field of "reply"; write it next to the name, at the same indentation [step]',
    ])
  })

  it('names variables without a value, empty files and protocols nobody speaks', () => {
    const text =
      'name: p\nsummary: s.\nprotocol: plan\nstages: [parse: { protocol: "${NOBODY_SET_THIS}" }]\ninputs: [principal, ingress]\n'
    expect(findings({ 'empty.yaml': '', 'p.yaml': text })).to.deep.equal([
      'empty.yaml:1:1: there is no pipeline in it; a file without any text removes the shipped file of the same name, and no other [type]',
      'p.yaml:3:11: no codec speaks "plan"; did you mean "plain"? [unknown-protocol]',
      'p.yaml:4:29: NOBODY_SET_THIS is not set; set it or write ${NOBODY_SET_THIS:-default} [unset-variable]',
    ])
  })

  it('runs the check of a stage on a configuration that its schema accepts', () => {
    const picky = defineStage({
      name: 'picky',
      summary: 'Says what is wrong.',
      config: {
        type: 'object',
        additionalProperties: false,
        properties: { word: { type: 'string', default: 'fine', description: 'A word.' } },
      } as const,
      needs: [],
      provides: [],
      check({ word }, _services, report) {
        if (word === 'wrong') report(['word'], 'it is wrong')
        if (word === 'refused') throw new Refusal('it is refused', ['word'])
        if (word === 'broken') throw new TypeError('it fell over')
      },
      build: () => () => ({}),
    })
    const words = ['fine', 'wrong', 'refused', 'broken', '[1]']
    const text = `${plain}${words.map((word) => `  - picky: { word: ${word} }\n`).join('')}  - picky\n`
    expect(findings({ 'p.yaml': text }, registryOf([...stubs, picky]))).to.deep.equal([
      'p.yaml:5:20: it is wrong [stage]',
      'p.yaml:6:20: it is refused [stage]',
      'p.yaml:7:12: the stage "picky" cannot check its configuration: it fell over [stage]',
      'p.yaml:8:20: must be a string [type]',
    ])
  })
})
