import { expect } from 'chai'
import { findings, registryOf, stub, stubs } from '../pipeline/stubs.ts'

const takes = { ...stub('takes', ['ingress'], ['reply']), body: { type: 'object' } }
const again = { ...stub('again', ['ingress'], []), body: () => ({ type: 'object' }) }
const registry = registryOf([...stubs, takes, again])
const served = (stages: string, more = '') =>
  `name: p\nsummary: s.\nroutes: [POST /p]\n${more}stages: [auth, ${stages}]\n`
const found = (files: Record<string, string>) => findings(files, registry).join('\n')

describe('readers of a body', () => {
  it('are one on each path', () => {
    const either = '{ switch: [{ when: { ingress.method: PUT }, do: [takes] }, { do: [again, takes] }] }'
    expect(found({ 'p.yaml': served(either) })).to.equal(
      'p.yaml:4:89: "takes" reads the body of the request, and "again" may have read it before [body-twice]',
    )
    const one = '{ switch: [{ when: { ingress.method: PUT }, do: [takes] }, { do: [{ parse: {} }, reply] }] }'
    expect(found({ 'p.yaml': served(one) })).to.equal('')
    expect(found({ 'p.yaml': served('{ parse: {} }, takes') })).to.include('"parse" may have read it before')
    expect(found({ 'p.yaml': served(`${either.replace('again, ', '')}, again`) })).to.include(
      '"takes" may have read it',
    )
    expect(found({ 'p.yaml': served('takes', 'finally: [again]\n') })).to.include('"takes" may have read it before')
  })

  it('are told once where an include is used twice', () => {
    const include = 'name: inner\nsummary: s.\ninputs: [ingress]\nstages: [takes, again]\n'
    const other = served('{ use: inner }').replaceAll('p', 'q').replace('POST', 'PUT')
    const lines = found({ 'p.yaml': served('{ use: inner }'), 'q.yaml': other, 'i.yaml': include }).split('\n')
    expect(lines).to.deep.equal([
      'i.yaml:4:17: "again" reads the body of the request, and "takes" may have read it before [body-twice]',
    ])
    expect(found({ 'p.yaml': served('again, { use: inner }'), 'i.yaml': include })).to.include('"again" may have')
  })

  it('stand in no attempt', () => {
    const steps = '{ parse: {} }, resolve, select, { attempt: { over: candidates, do: [takes] } }'
    expect(found({ 'p.yaml': served(steps) })).to.include('each try of an "attempt" would read it again')
  })

  it('need a request that has a body', () => {
    expect(found({ 'p.yaml': served('takes').replace('POST', 'GET') })).to.equal(
      'p.yaml:3:10: "takes" reads the body of the request, and a GET request has none [no-body]',
    )
    const job = 'name: p\nsummary: s.\ninputs: [job]\nstages: [again]\n'
    expect(found({ 'p.yaml': job })).to.include('"again" needs "ingress"')
  })
})
