import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import * as fc from 'fast-check'
import { FrameDecoder, fold, mapText, mapTexts, parsedJson } from '../../../engine/kit.ts'
import type { Frame, GenerateEvent, GenerateReply, Json } from '../../../engine/index.ts'
import { text } from '../../golden/files.ts'
import type { Generating } from '../../golden/upstreams.ts'
import protocols from '../../../plugins/protocols/index.ts'
import chat from '../../../plugins/protocols/chat/codec.ts'
import messages from '../../../plugins/protocols/messages/codec.ts'
import responses from '../../../plugins/responses/codec.ts'

const codecs = [chat, messages, responses] as readonly Generating[]
const upstreams = [...(protocols.codecs ?? []), responses] as unknown as readonly Generating[]
const asked = { id: '00000000-0000-7000-8000-000000000000', model: 'm', stream: true, body: {}, origin: 'o/m' }

const transcripts = readdirSync(join(import.meta.dirname, '..', '..', 'golden', 'answers'))
  .filter((file) => file.endsWith('.frames.txt'))
  .map((file) => {
    const [name, protocol] = file.split('.') as [string, string]
    const codec = upstreams.find((one) => one.protocol === protocol) as Generating
    return { name: `${name}.${protocol}`, codec, bytes: Buffer.from(text(`answers/${file}`)) }
  })

function read(codec: Generating, frames: readonly Frame[]): GenerateEvent[] {
  const reader = codec.events.parser()
  return [...frames.flatMap((frame) => [...reader.parse(frame)]), ...reader.end()] as GenerateEvent[]
}

function decode(chunks: readonly Uint8Array[]): Frame[] {
  const decoder = new FrameDecoder()
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()]
}

/** What a client reads of these events. */
function got(client: Generating, events: readonly GenerateEvent[]): GenerateReply {
  const writer = client.events.printer(asked)
  return fold(
    read(
      client,
      events.flatMap((event) => [...writer.print(event)]),
    ),
  )
}

/** Every text that somebody may have said: those in the input of calls as they are meant. */
function textsOf({ items }: GenerateReply): readonly string[] {
  const found: string[] = []
  const look = (value: Json) => {
    mapTexts(value, (one) => {
      const inner = /^\s*[{[]/.test(one) ? parsedJson(one) : undefined
      if (inner !== undefined && inner !== null) look(inner)
      else found.push(one)
      return one
    })
  }
  for (const item of items)
    look(item.type === 'reasoning' ? item.parts.map((part) => part.text) : (JSON.parse(JSON.stringify(item)) as Json))
  return found
}

/** A part of one of the texts, as no protocol writes it by itself. */
const secretOf = ({ codec, bytes }: (typeof transcripts)[number]) => {
  const texts = textsOf(fold(read(codec, decode([bytes])))).filter((one) => /[ ☃ü]/.test(one))
  return texts.flatMap((one) =>
    Array.from({ length: Math.max(0, one.length - 3) }, (_, at) => one.slice(at, at + 3 + (at % 9))).filter(
      (part) => /[ ☃ü]/.test(part) && part.isWellFormed(),
    ),
  )
}

/** The same events, with every text in pieces of at most so many characters. */
function recut(events: readonly GenerateEvent[], size: number): readonly GenerateEvent[] {
  return events.flatMap((event): readonly GenerateEvent[] => {
    if (event.type !== 'delta') return [event]
    const pieces = event.text.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? []
    return pieces.map((piece) => ({ ...event, text: piece }))
  })
}

describe('masking of a stream', () => {
  for (const one of transcripts) {
    const { name, codec, bytes } = one
    const secrets = secretOf(one)
    if (secrets.length === 0) continue

    it(`${name}: shows no client a word, wherever the stream and its texts are cut`, () => {
      const cases = fc.record({
        secret: fc.constantFrom(...secrets),
        size: fc.integer({ min: 1, max: 8 }),
        client: fc.constantFrom(...codecs),
        at: fc.nat(bytes.length),
      })
      fc.assert(
        fc.property(cases, ({ secret, size, client, at }) => {
          const hide = (said: string) => said.replaceAll(secret, '***')
          const map = mapText(hide, secret.length)()
          const events = read(codec, decode([bytes.subarray(0, at), bytes.subarray(at)]))
          const masked = got(
            client,
            recut(events, size).flatMap((event) => [...map.event(event)]),
          )
          for (const said of textsOf(masked)) expect(said).to.not.include(secret)
          const before = got(client, events)
          const plain = ({ items }: GenerateReply) =>
            items.flatMap((item) =>
              item.type === 'message' ? item.content.map((part) => 'text' in part && part.text) : [],
            )
          expect(plain(masked)).to.deep.equal(plain(before).map((said) => said && hide(said)))
        }),
        { numRuns: 300 },
      )
    })

    it(`${name}: is the same, cut at every byte`, () => {
      const [secret = ''] = secrets
      const masked = (chunks: readonly Uint8Array[]) => {
        const map = mapText((said) => said.replaceAll(secret, '***'), secret.length)()
        return read(codec, decode(chunks)).flatMap((event) => [...map.event(event)])
      }
      const whole = masked([bytes])
      expect(JSON.stringify(whole)).to.include('***')
      for (let at = 0; at <= bytes.length; at++)
        expect(masked([bytes.subarray(0, at), bytes.subarray(at)])).to.deep.equal(whole)
    }).timeout(60_000)
  }

  it('shows no client of the responses API a word in what only this protocol tells', () => {
    const code = 'print("hunter2")'
    const item = {
      type: 'code_interpreter_call',
      id: 'ci_1',
      status: 'completed',
      code,
      container_id: 'c',
      outputs: [],
    }
    const place = { output_index: 0, item_id: 'ci_1' }
    const response = { id: 'resp_1', object: 'response', created_at: 1, status: 'in_progress', model: 'm', output: [] }
    const events = [
      { type: 'response.created', response },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', code: '' } },
      { type: 'response.code_interpreter_call_code.delta', ...place, delta: 'print("hun' },
      { type: 'response.code_interpreter_call_code.delta', ...place, delta: 'ter2")' },
      { type: 'response.code_interpreter_call_code.done', ...place, code },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { ...response, status: 'completed', output: [item] } },
    ]
    const frames = events.map((event, number) => ({
      event: event.type,
      data: JSON.stringify({ ...event, sequence_number: number }),
    }))
    const native = responses as Generating
    const map = mapText((said) => said.replaceAll('hunter2', '***'), 7)()
    const writer = native.events.printer(asked)
    const told = read(native, frames).flatMap((event) => [...map.event(event)].flatMap((one) => [...writer.print(one)]))
    const given = told.map(({ data }) => data).join('\n')
    expect(given)
      .to.include(String.raw`print(\"***\")`)
      .and.include('code_interpreter_call_code.done')
    expect(given).to.not.include('hun')
    expect(given).to.not.include('ter2')
  })
})
