import { expect } from 'chai'
import type { Json, JsonObject } from '../../engine/index.ts'
import { json, matches, matchesFrames, normalised, text } from './files.ts'
import { addressed, cases, clients, pairs, streamed, streaming } from './pairs.ts'
import type { Client, Pair, Spoken } from './pairs.ts'
import { Session } from './session.ts'
import { accumulated, replayed, said } from './turns.ts'

/** A request of a client and what came of it. */
interface Exchange {
  /** The client's bytes, and those that the upstream got. */
  readonly sent: string
  readonly asked: string
  readonly id: string
  readonly answer: string
  readonly losses: string
}

/**
 * Whole exchanges through a gateway, over HTTP. `<client>/<case>.json` is a client's request, or a list of requests
 * that follow one another: `"$reply"` stands for what the client got before, the model `"$other"` for one
 * that cannot read what the first one sealed. `<case>.<pair>.upstream.json` is exactly what the upstream must get,
 * `answers/<case>.<protocol>.*` what it answers the first request (`length` any later one), and
 * `<case>.<pair>.reply.json` and `.frames.txt` exactly what the client must get, normalised by `normalised`.
 * `UPDATE_GOLDEN=1` rewrites the expectations: review every line of it.
 */
describe('golden exchanges', () => {
  const session = new Session()
  const losses: Record<Client, Record<string, string>> = { chat: {}, messages: {}, responses: {}, gemini: {} }

  async function exchange(client: Client, request: JsonObject, answer: string, stream?: Spoken): Promise<Exchange> {
    session.answer(answer, stream)
    // Bytes that no printer would write, so that a reprinted body cannot pass for the client's own.
    const { path, body: content } = addressed(client, request)
    const sent = JSON.stringify(content, null, 1)
    const response = await fetch(session.gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${session.gateway.key}` },
      body: sent,
    })
    const body = await response.text()
    expect(response.status, body).to.equal(200)
    return {
      sent,
      asked: session.upstream.requests.at(-1)?.body.toString() ?? '',
      id: response.headers.get('x-request-id') ?? '',
      answer: body,
      losses: response.headers.get('x-gateway-losses') ?? '',
    }
  }

  /** Every request of a case, one after the other; the client hands back what it got. */
  async function converse(client: Client, pair: Pair, name: string, stream: boolean): Promise<Exchange[]> {
    const given = json(`${client}/${name}.json`)
    const exchanges: Exchange[] = []
    let reply: readonly Json[] | undefined
    for (const [turn, request] of (Array.isArray(given) ? (given as JsonObject[]) : [given as JsonObject]).entries()) {
      const model = request['model'] === '$other' ? `other-${pair.name}` : pair.name
      const body = { ...replayed(client, request, reply ?? []), model, ...(stream ? streamed[client] : {}) }
      const answer = text(`answers/${turn === 0 ? name : 'length'}.${pair.protocol}.${stream ? 'frames.txt' : 'json'}`)
      const done = await exchange(client, body, answer, stream ? pair.protocol : undefined)
      reply ??= stream ? await accumulated(client, done.answer) : said(client, JSON.parse(done.answer) as JsonObject)
      exchanges.push(done)
    }
    return exchanges
  }

  for (const client of clients) {
    for (const pair of pairs[client]) {
      for (const name of cases[client]) {
        for (const stream of [false, true]) {
          const title = `${client} to ${pair.name}: ${name}, ${stream ? 'streamed' : 'whole'}`
          if (client === pair.protocol) it(title, () => relayed(client, pair, name, stream))
          else it(title, () => translated(client, pair, name, stream))
        }
      }
    }

    it(`${client}: what is lost on the way`, () => matches(`${client}/losses.json`, losses[client]))
  }

  /** Equal protocols: the bytes of both sides, but for the model's name, and for sealed reasoning, which is kept. */
  async function relayed(client: Client, pair: Pair, name: string, stream: boolean) {
    const exchanges = await converse(client, pair, name, stream)
    for (const { sent, asked } of exchanges) {
      const own = sent.replace(/("model": )"[^"]*"/, (_, key) => `${key}"${upstreamModel(sent)}"`)
      const { include = [], ...rest } = JSON.parse(own) as JsonObject
      const kept = 'reasoning.encrypted_content'
      if (client !== 'responses' || rest['store'] === false || (include as Json[]).includes(kept))
        expect(asked).to.equal(own)
      else expect(JSON.parse(asked)).to.deep.equal({ ...rest, include: [...(include as Json[]), kept] })
    }
    const answer = text(`answers/${name}.${pair.protocol}.${stream ? 'frames.txt' : 'json'}`)
    // The one thing that is added, where an upstream leaves it out.
    const unended = stream && client === 'responses' && !answer.includes('data: [DONE]')
    expect(exchanges[0]?.answer).to.equal(unended ? `${answer}data: [DONE]\n\n` : answer)
  }

  async function translated(client: Client, pair: Pair, name: string, stream: boolean) {
    const exchanges = await converse(client, pair, name, stream)
    const base = `${client}/${name}.${pair.name}`
    const asked = exchanges.map((one) => JSON.parse(one.asked) as JsonObject)
    for (const one of exchanges) expect(one.asked).to.not.contain('gw1.')
    if (!stream) {
      matches(`${base}.upstream.json`, asked.length === 1 ? (asked[0] as JsonObject) : asked)
      losses[client][`${name}.${pair.name}`] = exchanges.map((one) => one.losses).join(' | ')
    } else {
      const expected = json(`${base}.upstream.json`)
      const requests = (Array.isArray(expected) ? expected : [expected]) as JsonObject[]
      expect(asked).to.deep.equal(requests.map((one) => ({ ...one, ...streaming[pair.protocol] })))
    }
    if (pair.requestsOnly) return
    const [{ answer, id }] = exchanges as [Exchange]
    if (stream) matchesFrames(`${base}.reply.frames.txt`, normalised(answer, id))
    else matches(`${base}.reply.json`, JSON.parse(normalised(answer, id)) as Json)
  }
})

function upstreamModel(sent: string): string {
  return sent.includes('"model": "other-') ? 'another-1' : 'upstream-1'
}
